# nothing to tidy
