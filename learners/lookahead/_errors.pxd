cpdef double expected_errors(double n, double wrong, double confidence, double z)
