"""ID5R for production: the tree of `learners.utgoff.id5r`, compiled. README.md draws the data structure."""
