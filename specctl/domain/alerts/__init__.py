"""What is wrong on hosts and servers: rules, when they raise and clear, and the words for it."""
