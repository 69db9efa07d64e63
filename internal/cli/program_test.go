package cli

// program is the command line that tests run.
var program = rootFunc(newRootCommand)
