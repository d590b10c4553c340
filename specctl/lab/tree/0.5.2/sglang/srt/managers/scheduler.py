"""The process that batches requests; it chooses who speculates."""


class Scheduler:
    """One per tensor-parallel rank."""

    def launch_draft_worker(self):
        if self.spec_algorithm.is_eagle():
            from sglang.srt.speculative.eagle_worker import EAGLEWorker

            self.draft_worker = EAGLEWorker()
        elif self.spec_algorithm.is_standalone():
            from sglang.srt.speculative.standalone_worker import StandaloneWorker

            self.draft_worker = StandaloneWorker()
