"""A campaign of random programs and random derivations, each step compared exactly."""
