// Part of the n-gram trie: ngram.
#include "trie.h"
