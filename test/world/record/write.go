package main

import (
	"fmt"
	"os"

	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

// large is the fixture size from which a warning is printed.
const large = 60_000

// writeFixture writes a v1 List of the view's objects.
func writeFixture(file, what string, v *view) error {
	size, err := recorded.Write(file, what, v.at, v.raw)
	if size > large {
		fmt.Fprintf(os.Stderr, "record: %s has %d bytes\n", file, size)
	}
	return err
}
