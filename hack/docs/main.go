// Command docs writes docs/reference.md from the commands of the plugin; with -check it
// says whether the file is up to date.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli"
	"github.com/batchjob-dev/kubectl-batchjob/internal/docgen"
)

func main() {
	check := flag.Bool("check", false, "change nothing; fail if the file is not up to date")
	file := flag.String("file", "docs/reference.md", "the file")
	flag.Parse()
	if err := run(*file, *check); err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}

func run(file string, check bool) error {
	want := []byte(docgen.Reference(cli.NewCommand()))
	if !check {
		return os.WriteFile(file, want, 0o644)
	}
	have, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if string(have) != string(want) {
		return fmt.Errorf("%s is not what the commands say; run: make docs", file)
	}
	return nil
}
