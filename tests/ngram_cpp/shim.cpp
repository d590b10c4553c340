// Plain C functions around the matcher, so that ctypes can call it. Errors come back as text.
// FRESH: the release looks every suffix up afresh and has no external corpora (0.5.10).
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "ngram.h"

namespace ngram {}
namespace sglang::ngram {}
using namespace ngram;          // where releases up to 0.5.19 have it
using namespace sglang::ngram;  // and later ones

namespace {
thread_local std::string problem;

template <typename Work> int guard(Work work) {
  try {
    return work();
  } catch (const std::exception& error) {
    problem = error.what();
    return -1;
  }
}

std::vector<int32_t> copy(const int32_t* tokens, size_t count) { return {tokens, tokens + count}; }
}  // namespace

extern "C" {
const char* matcher_problem() { return problem.c_str(); }

void* matcher_new(
    size_t capacity, size_t depth, size_t min_breadth, size_t max_breadth, size_t draft_tokens,
    const char* match_type, size_t sam_budget) {
  Param param{};
  param.enable = true;
  param.max_trie_depth = depth;
  param.min_bfs_breadth = min_breadth;
  param.max_bfs_breadth = max_breadth;
  param.draft_token_num = draft_tokens;
#ifndef FRESH
  param.external_sam_budget = sam_budget;
#endif
  param.match_type = match_type;
  Ngram* matcher = nullptr;
  guard([&] {
    matcher = new Ngram(capacity, param);
    return 0;
  });
  return matcher;
}

void matcher_free(void* matcher) { delete static_cast<Ngram*>(matcher); }

void matcher_insert(void* matcher, const int32_t* tokens, size_t count) {
  auto* ngram = static_cast<Ngram*>(matcher);
  ngram->asyncInsert({copy(tokens, count)});
  ngram->synchronize();
}

int matcher_draft(
    void* matcher, int64_t request, const int32_t* tail, size_t count, size_t total, int32_t* tokens,
    uint8_t* mask) {
  return guard([&] {
#ifdef FRESH
    const auto result = static_cast<Ngram*>(matcher)->batchMatch({copy(tail, count)});
#else
    const auto result = static_cast<Ngram*>(matcher)->batchMatch({request}, {copy(tail, count)}, {total});
#endif
    std::memcpy(tokens, result.token.data(), result.token.size() * sizeof(int32_t));
    std::memcpy(mask, result.mask.data(), result.mask.size());
    return static_cast<int>(result.token.size());
  });
}

void matcher_forget(void* matcher, int64_t request) {
#ifndef FRESH
  static_cast<Ngram*>(matcher)->eraseMatchState({request});
#endif
}

void matcher_reset(void* matcher) { static_cast<Ngram*>(matcher)->reset(); }

#ifndef FRESH
int matcher_load(void* matcher, const char* name, const int32_t* tokens, size_t count) {
  auto* ngram = static_cast<Ngram*>(matcher);
  const int status = guard([&] {
    ngram->startExternalCorpusLoad();
    ngram->appendExternalCorpusTokens(copy(tokens, count));
    ngram->finishExternalCorpusLoad(name);
    return 0;
  });
  if (status != 0) ngram->resetStagingSam();
  return status;
}

void matcher_unload(void* matcher, const char* name) {
  static_cast<Ngram*>(matcher)->removeExternalCorpus(name);
}
#endif
}
