# nothing to prepare
