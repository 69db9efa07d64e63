package words

import (
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// outputQuote returns the error in the log of a container that has not failed.
func outputQuote(p *explain.Problem, _ time.Time) quotation {
	if p.Start.Error != nil {
		return meant(p.Start.Error, "").at(p.Run.Place)
	}
	return inQuotes(": ", p.Run.LastLine).at(p.Run.Place)
}

// errorRepeatedText returns that the log of a container that runs has an error at its end, or has it several times.
func errorRepeatedText(p *explain.Problem, _ time.Time) string {
	text := wording.Join(" of container ", "the log", p.Container)
	if p.Run.LineSign == meaning.SignUnknown {
		return text + " ends with an error"
	}
	return text + " repeats an error"
}

// waitsQuote returns the line of the log that says what a container waits for.
func waitsQuote(p *explain.Problem, _ time.Time) quotation {
	return inQuotes(", as its log says: ", p.Run.Awaited.Line)
}

// errorHiddenText returns that the log of a container that succeeded has an error, and what hides it.
func errorHiddenText(p *explain.Problem, now time.Time) string {
	switch {
	case p.Asked != "":
		return phrase("its command ends with {asked}, which hides an error of container {container}")(p, now)
	case p.Run.LineSign == meaning.SignNoError:
		return phrase("the log of container {container} has an error before it reports success")(p, now)
	case p.Run.LineSign == meaning.SignUnknown:
		return phrase("the script of container {container} did not end at an error")(p, now)
	}
	return phrase("the log of container {container} ends with an error")(p, now)
}

// inOutput returns the problem that the output of a container shows, nil if there is none: the Job runs, or is complete, in vain, or waits.
func (a *Answer) inOutput() *explain.Problem {
	if b := a.Beside; b != nil && (b.Kind == explain.ProblemErrorRepeated || b.Kind == explain.ProblemWaits || b.Kind == explain.ProblemSilent) {
		return b
	}
	for _, p := range a.Reservations {
		if p.Kind == explain.ProblemErrorHidden {
			return p
		}
	}
	return nil
}

// withOutput returns the clauses on a Job whose output shows an error, which comes first: after its state, and before its numbers.
func (a *Answer) withOutput(state string, clauses []string) []string {
	joint := ", and "
	if k := a.inOutput().Kind; k == explain.ProblemErrorRepeated || k == explain.ProblemErrorHidden {
		joint = ", but "
	}
	state += joint
	what := whatClauses(a.inOutput(), a.Now, state)
	what[0] = state + what[0]
	return append(what, clauses...)
}
