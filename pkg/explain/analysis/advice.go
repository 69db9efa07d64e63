package analysis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// advice is what can be done, the most useful first, each piece once.
func (a *situation) advice() []explain.Advice {
	var out []explain.Advice
	add := func(list ...explain.Advice) { out = appendNew(out, list) }
	if !a.finished() {
		add(a.adviceOnProblems()...)
	}
	if a.outcome.failing() || a.job.Status.Failed > 0 || len(a.failures) > 0 && !a.finished() {
		add(a.adviceOnFailure()...)
		if !a.focused() {
			add(a.adviceOnLimit()...)
		}
	}
	if a.finished() {
		add(a.adviceOnProblems()...)
	}
	add(a.adviceOnRetry()...)
	return out
}

// appendNew appends those that are not there yet.
func appendNew(all, list []explain.Advice) []explain.Advice {
	for _, x := range list {
		if !slices.ContainsFunc(all, func(y explain.Advice) bool { return x.Text == y.Text && x.Command == y.Command }) {
			all = append(all, x)
		}
	}
	return all
}

// advise is a piece of advice, with a command or "".
func advise(text, command string) explain.Advice { return explain.Advice{Text: text, Command: command} }

// kubectl is a command with the Job's namespace.
func (a *analysis) kubectl(format string, args ...any) string {
	return "kubectl " + fmt.Sprintf(format, args...) + " -n " + shellWord(a.job.Namespace)
}

// shellWord quotes a word unless it is plain, so that a command can be copied as it is.
func shellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-._/:=@", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func (a *analysis) jobWord() string { return shellWord(a.job.Name) }
