package words

import (
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// HistoryText describes the runs of indexes in their family, without the indexes: "failed in sweep and in sweep-retry-1,
// both times OOMKilled; completed in sweep-retry-2".
func HistoryText(runs []explain.IndexRun) string {
	var parts []string
	for from := 0; from < len(runs); {
		to := from + 1
		for to < len(runs) && runs[to].Outcome == runs[from].Outcome {
			to++
		}
		parts = append(parts, runsText(runs[from:to]))
		from = to
	}
	return Clauses(parts)
}

// runsText returns "failed in sweep (OOMKilled) and in sweep-retry-1 (exit code 1)".
func runsText(runs []explain.IndexRun) string {
	same := len(runs) > 1 && runs[0].Failure != nil
	for i := range runs {
		same = same && runs[i].Failure != nil && *runs[i].Failure == *runs[0].Failure
	}
	places := make([]string, len(runs))
	for i := range runs {
		places[i] = "in " + runs[i].Job
		if f := runs[i].Failure; f != nil && !same {
			places[i] += " (" + failureWord(f) + ")"
		}
	}
	text := outcomeTexts[runs[0].Outcome] + " " + wording.Enumerate(places, "and")
	if same {
		text += ", " + wording.Form(len(runs)-1, "both times ", "each time ") + failureWord(runs[0].Failure)
	}
	return text
}

var outcomeTexts = map[explain.RunOutcome]string{
	explain.RunCompleted: "completed", explain.RunFailed: "failed",
	explain.RunOpen: "not completed yet", explain.RunStopped: "neither completed nor failed",
}

// failureWord returns the reason of a failure, or its exit code if it has none.
func failureWord(f *cause.Failure) string {
	switch {
	case f.Container != "" && f.Reason != "":
		return f.Reason
	case f.Container != "":
		return "exit " + cause.CodeText(f.ExitCode, "")
	}
	return LowerFirst(f.Text())
}

// FamilyText reports whether a family is complete, or what it lacks, without the indexes.
func FamilyText(f *explain.Family) string {
	var running, missing string
	if f.RunningIn != "" {
		running = f.RunningIn + " is running"
	}
	switch n := f.MissingCount; {
	case f.Complete && f.CompletedBy != "":
		missing = "complete, by " + f.CompletedBy
	case f.Complete:
		missing = "complete"
	case n == nil:
		missing = "not complete"
	case f.Missing != "":
		missing = wording.Plural(*n, "index is", "indexes are") + " missing"
	default:
		missing = wording.Plural(*n, "completion is", "completions are") + " missing"
	}
	return Clauses([]string{running, missing})
}

// RestText describes how retries run the rest of a failed Job, "" if none does.
func RestText(f *explain.Family) string {
	switch {
	case f.CompletedBy != "":
		return f.CompletedBy + " completed the rest"
	case f.Complete:
		return "its retries completed the rest"
	case f.RunningIn != "":
		return f.RunningIn + " is running the rest"
	}
	return ""
}

// GroupText describes what the Jobs of a group have in common, without the pods and times of a single Job; how describes
// how their pods failed.
func GroupText(g *explain.JobGroup, how string) string {
	if g.Problem != nil {
		return problemOfSeveral(g.Problem, time.Time{})
	}
	return wording.Join(": ", g.Reason, LowerFirst(how))
}

// problemOfSeveral describes a problem without the pods and times of a single Job.
func problemOfSeveral(p *explain.Problem, now time.Time) string {
	if group := problems[p.Kind].group; group != nil {
		return group(p, now)
	}
	return ProblemWhat(p, now)
}
