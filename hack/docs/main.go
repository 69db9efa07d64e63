// Command docs writes docs/reference.md from the commands of the plugin, and docs/explanation.md from the types of its
// JSON and their comments; with -check, it checks that they are up to date.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/batchjob-dev/kubectl-batchjob/hack/docs/docgen"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli"
)

func main() {
	check := flag.Bool("check", false, "change nothing; fail if the file is not up to date")
	flag.Parse()
	fields, err := docgen.Fields([]string{"pkg/explain", "pkg/cause", "pkg/explain/input", "pkg/explain/kueue", "pkg/explain/meaning", "pkg/reconcile"}, "Report", "ReportList")
	if err == nil {
		err = errors.Join(run("docs/reference.md", docgen.Reference(cli.NewCommand()), *check), run("docs/explanation.md", fields, *check))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}

func run(file, text string, check bool) error {
	want := []byte(text)
	if !check {
		return os.WriteFile(file, want, 0o644)
	}
	have, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if string(have) != string(want) {
		return fmt.Errorf("%s is out of date; run: make docs", file)
	}
	return nil
}
