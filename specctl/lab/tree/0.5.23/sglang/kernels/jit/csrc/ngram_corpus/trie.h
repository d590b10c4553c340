// A trie of recently generated tokens; nodes are reused, least recently inserted first.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

namespace ngram {

struct Node {
  std::map<std::int32_t, Node *> children;
  std::int64_t frequency = 0;
};

class Trie {
 public:
  explicit Trie(std::size_t capacity);
  void insert(const std::vector<std::int32_t> &tail, std::size_t depth);

 private:
  std::vector<Node> nodes_;
};

}  // namespace ngram
