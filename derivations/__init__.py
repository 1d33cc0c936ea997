"""Equal programs: rules propose steps, a small kernel verifies them, the search explores them."""
