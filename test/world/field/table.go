package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// printTable prints a row for each answer, with its first sentence, followed by its faults, and lists the long first
// sentences. It returns the number of failed takes that are not owed (a take is a case with one controller).
func printTable(out io.Writer, results []result) (bad int) {
	missing := 0
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "CASE\tRESULT\tFIRST SENTENCE, AND WHAT IS WRONG")
	for _, r := range results {
		if !r.passes() {
			missing++
			if !r.owed() {
				bad++
			}
		}
		if r.err != nil {
			fmt.Fprintf(w, "%s\tFAIL\tnot played: %s\n", r.namespace(), line(r.err.Error()))
			continue
		}
		name := r.namespace()
		for _, v := range r.verdicts {
			word := "pass"
			if len(v.Faults) > 0 {
				word = "FAIL"
				if r.owed() {
					word = "owed"
				}
			}
			first := line(v.First)
			if v.Ask.Run != "" {
				first = "$ kubectl batchjob " + v.Ask.Run
			}
			fmt.Fprintf(w, "%s\t%s\t%s\n", name, word, first)
			for _, fault := range v.Faults {
				fmt.Fprintf(w, "\t\t- %s\n", fault)
			}
			name = ""
		}
	}
	_ = w.Flush() // Standard output is gone.
	printLong(out, results)
	good, all := countCases(results)
	fmt.Fprintf(out, "\n%d of %d cases pass; with each controller on its own, %d of %d.\n", good, all, len(results)-missing, len(results))
	return bad
}

// long is the number of characters of a first sentence that is hard to read.
const long = 160

// printLong lists the first sentences that are longer.
func printLong(out io.Writer, results []result) {
	var b strings.Builder
	for _, r := range results {
		for _, v := range r.verdicts {
			if n := utf8.RuneCountInString(line(v.Sentence)); n > long && v.Ask.Run == "" {
				fmt.Fprintf(&b, "%5d %s %s\n", n, r.namespace(), v.Ask.About)
			}
		}
	}
	if b.Len() > 0 {
		fmt.Fprintf(out, "\nFirst sentences of more than %d characters:\n%s", long, b.String())
	}
}

// countCases returns the number of cases that pass with all their controllers, and the number of cases.
func countCases(results []result) (good, all int) {
	failed := map[string]bool{}
	for _, r := range results {
		failed[r.Name] = failed[r.Name] || !r.passes()
	}
	for _, fails := range failed {
		if !fails {
			good++
		}
	}
	return good, len(failed)
}

func line(text string) string { return strings.Join(strings.Fields(text), " ") }
