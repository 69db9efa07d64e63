package words

import (
	"fmt"
	"strings"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// JobSetText describes the state of a JobSet: the answer, and what adds to it.
func JobSetText(r *explain.JobSetReport, now time.Time) (sentence string, notes []string) {
	start := "JobSet " + r.Name + " "
	what, why := jobSetWhat(r, now)
	texts := []string{start + what}
	if r.Job != nil && r.State == explain.JobSetRunning {
		state := runText(r.Job, now)
		texts = append(texts, fmt.Sprintf("Job %s of JobSet %s %s", r.Job.Name, r.Name, state), "Its Job "+r.Job.Name+" "+state)
	}
	clauses, _ := withCause(why, texts...)
	clauses = append(clauses, waitsText(r.Job), decidedText(r), lackingText(r), stillRunText(r, now))
	clauses = withDropped(r, clauses)
	if r.State == explain.JobSetCreationRefused && why == "" {
		clauses = refusedClauses(start+what+": ", r.Refusal)
	}
	if r.Held != nil {
		_, message := r.Held.Hold.Text("", "", now)
		text := holdText(r.Held, strings.TrimSpace(start), maxSentence-1, now)
		clauses = plainly(LowerFirst(withoutIDs(message))).clauses(text, room(""))
	}
	for _, w := range r.Waits {
		clause := fmt.Sprintf("its replicatedJob %s starts when %s is %s", w.ReplicatedJob, w.For, w.Status)
		if r.State == explain.JobSetStarting {
			clause += " (startupPolicy InOrder)"
		}
		clauses = append(clauses, clause)
	}
	if usedUp := r.Reason == "ReachedMaxRestarts" && r.MaxRestarts != nil && r.Restarts == *r.MaxRestarts; r.Restarts > 0 && !usedUp {
		restarts := wording.Plural(r.Restarts, "restart", "restarts") + " so far"
		if r.MaxRestarts != nil {
			restarts += fmt.Sprintf(" (maxRestarts %d)", *r.MaxRestarts)
		}
		clauses = append(clauses, restarts)
	}
	return firstSentence(clauses)
}

// withDropped adds the fields that the JobSet lacks although they were applied, which come first unless one of its Jobs has a problem.
func withDropped(r *explain.JobSetReport, clauses []string) []string {
	if len(r.Dropped) == 0 {
		return clauses
	}
	var fields []string
	for _, f := range r.Dropped[:min(len(r.Dropped), maxDropped)] {
		name := f.Path[strings.LastIndexByte(f.Path, '.')+1:]
		fields = append(fields, wording.Join(" of ", name, wording.EnumerateFew(f.Of)))
	}
	lacks := "lacks "
	if r.State == explain.JobSetRunning && r.Job == nil {
		lacks = "runs without "
	}
	lacks += fmt.Sprintf("%s, which %s applied: most likely, the cluster's definition (CRD) of JobSets drops %s", wording.Enumerate(fields, "and"),
		wording.Form(len(r.Dropped), "was", "were"), wording.Form(len(r.Dropped), "it", "them"))
	if r.Job != nil || r.State == explain.JobSetCompleted {
		return append(clauses, "the JobSet "+lacks)
	}
	start := "JobSet " + r.Name + " "
	clauses[0] = "it " + strings.TrimPrefix(clauses[0], start)
	return append([]string{start + lacks}, clauses...)
}

// maxDropped is the maximum number of fields that are named.
const maxDropped = 3

// jobSetWhat returns the first clause, which follows the name, and the cause of what it says.
func jobSetWhat(r *explain.JobSetReport, now time.Time) (what, why string) {
	switch r.State {
	case explain.JobSetCompleted:
		return "completed" + ago(r.Since, now), ""
	case explain.JobSetSuspended:
		return "is suspended (spec.suspend), so its Jobs do not run", ""
	case explain.JobSetGone:
		return "no longer exists", ""
	case explain.JobSetUnread:
		return "could not be read", ""
	case explain.JobSetNoJobs:
		return noJobsText(r, now), ""
	case explain.JobSetCreationRefused:
		text := "cannot create its Jobs"
		if r.Refused != "" {
			text = "cannot create its Job " + r.Refused
		}
		if len(r.Unlimited) > 0 {
			u := &r.Unlimited[0]
			return text, fmt.Sprintf("container %s requests %s without equal limits", u.Container, u.Resource)
		}
		return text, ""
	case explain.JobSetJobsMissing:
		what := fmt.Sprintf("has had no Job of replicatedJob %s for %s", r.Missing, wording.Age(now.Sub(r.Since.Time)))
		if r.BadTemplate != "" {
			return what + ", likely due to its template", r.BadTemplate
		}
		return what + ", and only the log of the JobSet controller says why", ""
	case explain.JobSetJobsSuspended:
		return "is not suspended, but its Job " + r.Job.Name + " " + runText(r.Job, now), r.Job.Cause
	case explain.JobSetStarting:
		if r.Job == nil {
			return "starts its Jobs in the order of its startupPolicy", ""
		}
		return "waits for its Job " + r.Job.Name + ", which " + runText(r.Job, now), r.Job.Cause
	}
	return jobSetOutcome(r, now)
}

// noJobsText describes a JobSet without Jobs.
func noJobsText(r *explain.JobSetReport, now time.Time) string {
	created := "was created" + ago(r.Since, now) + " and has no Jobs"
	switch {
	case r.ManagedBy != "":
		return created + ": " + ControllerWord(r.ManagedBy) + " is to run it (spec.managedBy)"
	case r.BadService != "":
		return fmt.Sprintf("has no Jobs, as it cannot create its Service: the name %s is not allowed for a Service", r.BadService)
	case r.Untouched:
		return created + " and no status: the JobSet controller does not act on it"
	}
	return created + ", and no event says why"
}

// lackingText names the Jobs that a JobSet without Jobs should have, "" for others.
func lackingText(r *explain.JobSetReport) string {
	if r.State != explain.JobSetNoJobs || len(r.Lacking) == 0 || r.ManagedBy != "" {
		return ""
	}
	text := fmt.Sprintf("it should have %s (%s %s)", wording.Plural(r.Wanted, "Job", "Jobs"), wording.Form(len(r.Lacking), "replicatedJob", "replicatedJobs"), wording.EnumerateFew(r.Lacking))
	if r.Suspend {
		text += ", although spec.suspend is true: those of a suspended JobSet are created suspended"
	}
	return text
}

// jobSetOutcome returns the first clause about a JobSet that runs or has failed.
func jobSetOutcome(r *explain.JobSetReport, now time.Time) (what, why string) {
	text := map[explain.JobSetState]string{
		explain.JobSetFailed:  "failed" + ago(r.Since, now),
		explain.JobSetRunning: fmt.Sprintf("is running: %d of its %s succeeded", r.Succeeded, wording.Plural(r.Wanted, "Job", "Jobs")),
	}[r.State]
	switch {
	case r.Job != nil && r.State == explain.JobSetFailed:
		return text + ": its Job " + r.Job.Name + " " + runText(&explain.OwnedRun{State: r.Job.State}, now), r.Job.Cause
	case r.Job != nil:
		return text + "; its Job " + r.Job.Name + " " + runText(r.Job, now), r.Job.Cause
	case r.State == explain.JobSetFailed:
		return text, r.Message
	}
	return text, ""
}

// decidedText says which policy decided that the JobSet failed, "" for other states.
func decidedText(r *explain.JobSetReport) string {
	if r.State != explain.JobSetFailed {
		return ""
	}
	text := ""
	switch {
	case r.Reason == "FailedJobs" && r.MaxRestarts == nil:
		text = "it has no failurePolicy, so the first Job that fails ends it"
	case r.Reason == "ReachedMaxRestarts" && r.MaxRestarts != nil:
		text = fmt.Sprintf("its failurePolicy allows no more restarts (maxRestarts %d)", *r.MaxRestarts)
	case r.Reason == "FailJobSetFailurePolicyAction" && len(r.Rules) == 1 && r.Rules[0] != "":
		text = fmt.Sprintf("rule %s of its failurePolicy has the action FailJobSet", r.Rules[0])
	case r.Reason == "FailJobSetFailurePolicyAction":
		text = "a rule of its failurePolicy has the action FailJobSet"
	}
	if text != "" && len(r.SuccessPolicy) > 0 {
		text += fmt.Sprintf(", although its successPolicy is only about %s", wording.Enumerate(r.SuccessPolicy, "and"))
	}
	return text
}

// stillRunText names the Jobs that still run although their JobSet has ended, and says until when; "" without any.
func stillRunText(r *explain.JobSetReport, now time.Time) string {
	n := len(r.StillRun)
	if n == 0 {
		return ""
	}
	text := fmt.Sprintf("its %s %s still %s", wording.Form(n, "Job", "Jobs"), wording.EnumerateFew(r.StillRun), wording.Form(n, "runs", "run"))
	if r.TTLSeconds == nil {
		return text + ", which its controller should have deleted at its end"
	}
	end := r.Since.Add(time.Duration(*r.TTLSeconds) * time.Second)
	if left := end.Sub(now); left > 0 {
		return fmt.Sprintf("%s, until ttlSecondsAfterFinished (%s) removes the JobSet in %s", text, wording.Seconds(int64(*r.TTLSeconds)), wording.Age(left))
	}
	return text + ", although the ttlSecondsAfterFinished of the JobSet is over"
}

// DeleteOver returns advice on the Jobs that run after the end of their JobSet: to delete them, or the whole JobSet.
func DeleteOver(r *explain.JobSetReport, whole bool) string {
	it := wording.Form(len(r.StillRun), "it", "them")
	text := fmt.Sprintf("if nothing needs the work of %s, delete %s: the JobSet is over, and does not create %s again", wording.Form(len(r.StillRun), "the Job that still runs", "the Jobs that still run"), it, it)
	if whole {
		text = "if nothing needs the work of the Jobs that still run, delete the JobSet, with all its Jobs and their logs"
	}
	if r.TTLSeconds != nil {
		text += "; a shorter ttlSecondsAfterFinished removes the whole JobSet earlier, and a newer JobSet controller deletes such Jobs at once"
	}
	return text
}

// Advice on JobSets.
const (
	UpdateDefinition      = "install a version of JobSet whose definition (CRD) and controller know the field, and create the JobSet again; this command prints the field if the definition has it"
	ResumeJobSet          = "resume it"
	SetEqualLimit         = "set resources.limits of %s to its request in container %s of replicatedJob %s, and create the JobSet again"
	AwaitQueue            = "find out why Kueue does not admit it: it resumes the JobSet when queue %s has room; a JobSet that you resume passes by its queue"
	CheckOtherController  = "check whether controller %s runs, which may create the Jobs in another cluster; with the JobSet controller, there is no managedBy, and it cannot be changed"
	CheckJobSetController = "check whether the pods of the JobSet controller run, or crash"
	FindWhoSuspends       = "find out what suspended the Job: the JobSet does not resume it while another manager suspends it"
	RenameJobSet          = "create the JobSet with another name, or set network.subdomain: the name of a Service has at most 63 lowercase letters, digits and \"-\", no dot, and begins with a letter"
	CorrectJobSet         = "correct the template in spec.replicatedJobs, and create the JobSet again, as its templates cannot be changed"
	ReadEventsOfJobSet    = "check its events, and whether the controller of JobSets is running"
	ResolveRefusal        = "resolve what the message names: the controller of JobSets tries again by itself"
	ReadLogOfJobSets      = "find the error in the log of the JobSet controller (here as its manifests install it)"
	ChangeJobSet          = "to change a template in spec.replicatedJobs, create the JobSet again, as its templates cannot be changed"
	RecreateJobSet        = "once the cause is resolved, create the JobSet again: it does not run again by itself, and its templates cannot be changed"
	FailToRestart         = "the JobSet restarts its Jobs only when one of them fails, and this one replaces its pods: to have each failed pod restart the JobSet, create it with backoffLimit: 0 in that replicatedJob"
	AllowRestarts         = RecreateJobSet + "; with failurePolicy.maxRestarts, it starts all its Jobs again after a failure"
)
