// Package jobset explains a JobSet: the Job and the policy that decided its end, the order in which its Jobs start, and why it
// has none. Its Jobs are explained by package analysis. Explain is pure: the same input gives the same report.
package jobset

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/apirules"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/kueue"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
)

var (
	// firstFailed matches the Job that decided, in messages of conditions.
	firstFailed = lazyregexp.New(`\(first failed job: ([^\s)]+)\)`)
	// notCreated matches the beginning of messages about a Job, a Service or a claim that is not created; the group is the Job.
	notCreated = lazyregexp.New(`^(?:job "([^"]+)" creation failed with error: |(?:services|persistentvolumeclaims) "[^"]+" is forbidden: )`)
)

// Explain returns the report on the JobSet, for all reports on Jobs; reports on others are ignored.
func Explain(in input.JobSet, reports []explain.Report) explain.JobSetReport {
	in.Now = in.Now.Truncate(time.Second)
	r := explain.JobSetReport{Namespace: in.Namespace, Name: in.Name, Jobs: int32(in.Jobs), Gaps: in.Gaps}
	switch {
	case in.JobSet == nil && len(in.Gaps) > 0:
		r.State = explain.JobSetUnread
	case in.JobSet == nil:
		r.State = explain.JobSetGone
	default:
		copyFields(&r, in.JobSet)
		r.Dropped = in.Dropped
		own, held := ownReports(&in, reports), heldItself(&in)
		decide(&r, &in, held != nil, runsOf(own, in.Now))
		if r.State == explain.JobSetRunning && (r.Job == nil || r.Job.State != explain.OwnedFailed) && !slices.ContainsFunc(own, (*explain.Report).IsDeleting) {
			findMissing(&r, &in, own)
		}
		if hasEnded := r.State == explain.JobSetCompleted || r.State == explain.JobSetFailed; hasEnded && !r.Since.IsZero() && r.ManagedBy == "" && in.Now.Sub(r.Since.Time) >= patience {
			r.StillRun, r.TTLSeconds = stillRun(own), in.JobSet.Spec.TTLSeconds
		}
		if r.State == explain.JobSetSuspended {
			r.Held = cmp.Or(held, heldBy(own))
		}
	}
	r.Sentence, r.Notes = words.JobSetText(&r, in.Now)
	r.Advice = append(adviceOnState(&r), onStillRunning(&r)...)
	return r
}

func copyFields(r *explain.JobSetReport, set *input.JobSetObject) {
	r.Restarts, r.Suspend, r.Queue = set.Status.Restarts, set.Spec.Suspend, set.Metadata.Labels[kueue.QueueLabel]
	if set.Spec.ManagedBy != jobSetController {
		r.ManagedBy = set.Spec.ManagedBy
	}
	if p := set.Spec.FailurePolicy; p != nil {
		r.MaxRestarts = &p.MaxRestarts
		for i := range p.Rules {
			if p.Rules[i].Action == "FailJobSet" {
				r.Rules = append(r.Rules, p.Rules[i].Name)
			}
		}
	}
	if p := set.Spec.SuccessPolicy; p != nil {
		r.SuccessPolicy = p.TargetReplicatedJobs
	}
	for i := range set.Spec.ReplicatedJobs {
		r.Wanted += ptr.Deref(set.Spec.ReplicatedJobs[i].Replicas, 1)
	}
	for i := range set.Status.ReplicatedJobsStatus {
		r.Succeeded += set.Status.ReplicatedJobsStatus[i].Succeeded
	}
}

// jobSetController is spec.managedBy of JobSets that the JobSet controller runs, which is also the default.
const jobSetController = "jobset.sigs.k8s.io/jobset-controller"

// ownReports returns the reports on the Jobs of the JobSet.
func ownReports(in *input.JobSet, reports []explain.Report) (own []*explain.Report) {
	for i := range reports {
		if o := reports[i].Job.Owner; o != nil && o.Kind == "JobSet" && o.Name == in.Name && reports[i].Job.Namespace == in.Namespace {
			own = append(own, &reports[i])
		}
	}
	return own
}

// runsOf returns the Jobs in short.
func runsOf(reports []*explain.Report, now time.Time) (runs []explain.OwnedRun) {
	for _, r := range reports {
		runs = append(runs, words.RunOf(r, now))
	}
	return runs
}

// stillRun returns the Jobs of a JobSet that has ended of which pods run, and that are not being deleted.
func stillRun(reports []*explain.Report) (names []string) {
	for _, r := range reports {
		if r.Job.Finished == nil && !r.IsDeleting() && ptr.Deref(r.Counts.ActivePods, r.Counts.Active) > 0 {
			names = append(names, r.Job.Name)
		}
	}
	return names
}

// heldItself returns why Kueue does not admit a JobSet without Jobs; nil if that is unknown.
func heldItself(in *input.JobSet) *explain.Suspension {
	if hold := kueue.HoldOf(in.Workload, in.Now); hold != nil {
		return &explain.Suspension{Queue: in.Workload.Queue, Hold: hold}
	}
	return nil
}

// heldBy returns why Kueue keeps the first of the Jobs suspended, which it admits together; nil if that is unknown.
func heldBy(reports []*explain.Report) *explain.Suspension {
	for _, r := range reports {
		if p := lists.First(r.Problems, func(p *explain.Problem) bool { return p.Suspension.Hold != nil }); p != nil {
			return &p.Suspension
		}
	}
	return nil
}

// decide finds the state in the conditions, then in the spec, the events and the Jobs. held reports whether Kueue holds the JobSet itself.
func decide(r *explain.JobSetReport, in *input.JobSet, held bool, runs []explain.OwnedRun) {
	set := in.JobSet
	r.Waits = waitsOf(set)
	for _, known := range []struct {
		condition string
		state     explain.JobSetState
	}{
		{"Failed", explain.JobSetFailed},
		{"Completed", explain.JobSetCompleted},
		{"Suspended", explain.JobSetSuspended},
		{"StartupPolicyInProgress", explain.JobSetStarting},
	} {
		c := set.Condition(known.condition)
		if c == nil || known.state == explain.JobSetStarting && in.Jobs == 0 {
			continue
		}
		r.State, r.Reason, r.Message, r.Since = known.state, c.Reason, c.Message, ptr.To(c.LastTransitionTime)
		if name := firstFailed.Group(c.Message); name != "" {
			failed := lists.First(runs, func(run *explain.OwnedRun) bool { return run.Name == name && run.State == explain.OwnedFailed })
			r.Job = cmp.Or(failed, &explain.OwnedRun{Name: name, State: explain.OwnedFailed}) // The JobSet may have created it again.
		}
		if known.state == explain.JobSetStarting {
			r.Job = troubled(runs) // Later Jobs may be suspended until it is their turn.
		}
		return
	}
	switch {
	case held: // Its Jobs may run on another cluster.
		r.State = explain.JobSetSuspended
	case in.Jobs == 0 && (!set.Spec.Suspend || isIgnored(in)): // A suspended JobSet has Jobs, which are suspended, too.
		decideWithoutJobs(r, in)
	case set.Spec.Suspend:
		r.State = explain.JobSetSuspended
	default:
		r.State, r.Job = explain.JobSetRunning, troubled(runs, explain.OwnedSuspended)
		if open := firstIn(runs, explain.OwnedRunning); open != nil {
			r.Open = open.Name
		}
		if r.Job != nil && r.Job.State == explain.OwnedSuspended {
			r.State = explain.JobSetJobsSuspended
		}
	}
}

// decideWithoutJobs finds out why the JobSet has no Jobs.
func decideWithoutJobs(r *explain.JobSetReport, in *input.JobSet) {
	set := in.JobSet
	r.State, r.Since, r.Untouched = explain.JobSetNoJobs, &set.Metadata.CreationTimestamp, isIgnored(in)
	if service := set.ServiceName(); service != "" && len(validation.IsDNS1035Label(service)) > 0 {
		r.BadService = service
	}
	for i := range set.Spec.ReplicatedJobs {
		r.Lacking = append(r.Lacking, set.Spec.ReplicatedJobs[i].Name)
	}
	readEvents(r, in)
}

// reaction is the time in which the JobSet controller has written a status.
const reaction = 2 * time.Second

// isIgnored reports whether the JobSet controller should have written a status by now, and has not.
func isIgnored(in *input.JobSet) bool {
	return in.JobSet.IsUntouched() && in.Now.Sub(in.JobSet.Metadata.CreationTimestamp.Time) >= reaction
}

// patience is the time after which a JobSet that has created some of its Jobs should have created all, and one that has ended deleted the others.
const patience = 10 * time.Second

// findMissing finds the first replicatedJob that waits for none and has no Jobs, although the JobSet has created others long enough ago.
func findMissing(r *explain.JobSetReport, in *input.JobSet, own []*explain.Report) {
	var newest *metav1.Time
	for _, report := range own {
		if t := report.Job.Created; t != nil && (newest == nil || newest.Before(t)) {
			newest = t
		}
	}
	if newest == nil || in.Now.Sub(newest.Time) < patience {
		return
	}
	started := startedOf(in.JobSet)
	for i := range in.JobSet.Spec.ReplicatedJobs {
		job := &in.JobSet.Spec.ReplicatedJobs[i]
		waits := slices.ContainsFunc(r.Waits, func(w explain.ReplicatedWait) bool { return w.ReplicatedJob == job.Name })
		has := slices.ContainsFunc(own, func(report *explain.Report) bool { return isOf(report.Job.Name, in.Name, job.Name) })
		if is, known := started[job.Name]; !known || is || has || waits || ptr.Deref(job.Replicas, 1) == 0 {
			continue
		}
		r.State, r.Missing, r.Since = explain.JobSetJobsMissing, job.Name, newest
		refused := *r
		if readEvents(&refused, in); isOf(refused.Refused, in.Name, job.Name) {
			*r = refused
			return
		}
		of := batchv1.Job{Spec: *job.Template.Spec.DeepCopy()}
		apirules.SetDefaults(&of)
		if problems := apirules.JobTemplate(&of.Spec, nil); len(problems) > 0 {
			r.BadTemplate = problems[0].Message
		}
		return
	}
}

// isOf reports whether a Job has the name of one of the replicatedJob's Jobs, which ends with the number of the Job.
func isOf(name, set, replicatedJob string) bool {
	number, found := strings.CutPrefix(name, set+"-"+replicatedJob+"-")
	return found && !strings.Contains(number, "-")
}

// troubled returns the Job that a JobSet without an end is about: one that failed or is stalled, or is in one of the other states, or that
// runs with an error; nil if all are well.
func troubled(runs []explain.OwnedRun, others ...explain.OwnedState) *explain.OwnedRun {
	states := append([]explain.OwnedState{explain.OwnedFailed, explain.OwnedFailing, explain.OwnedStalled}, others...)
	return cmp.Or(firstIn(runs, states...), lists.First(runs, func(run *explain.OwnedRun) bool {
		return run.State == explain.OwnedRunning && (run.FailedPods > 0 || run.Cause != "")
	}))
}

// firstIn returns the first Job in one of the states, in the order of the states; nil if there is none.
func firstIn(runs []explain.OwnedRun, states ...explain.OwnedState) *explain.OwnedRun {
	for _, state := range states {
		if run := lists.First(runs, func(run *explain.OwnedRun) bool { return run.State == state }); run != nil {
			return run
		}
	}
	return nil
}

// readEvents sets the reason why no Job is created, from the last warning.
func readEvents(r *explain.JobSetReport, in *input.JobSet) {
	last := input.LastEvent(in.Events, func(e *input.Event) bool { return strings.HasSuffix(e.Reason, "CreationFailed") })
	if last == nil {
		return
	}
	message := last.Message
	if m := notCreated.FindStringSubmatch(message); m != nil {
		r.Refused, message = m[1], message[len(m[0]):]
	}
	r.State, r.Reason, r.Details, r.Refusal = explain.JobSetCreationRefused, last.Reason, []string{last.Message}, meaning.OfRefusal(message)
	if r.Refusal.IsOfTemplate() && strings.Contains(message, ".resources.") {
		r.Unlimited = unlimited(in.JobSet)
	}
}

// unlimited returns the requests for resources that cannot be overcommitted, and have no equal limit.
func unlimited(set *input.JobSetObject) (all []explain.Unlimited) {
	for i := range set.Spec.ReplicatedJobs {
		job := &set.Spec.ReplicatedJobs[i]
		for _, c := range job.Template.Spec.Template.Spec.Containers {
			for _, name := range slices.Sorted(maps.Keys(c.Resources.Requests)) {
				asked := c.Resources.Requests[name]
				limit, limited := c.Resources.Limits[name]
				if strings.Contains(string(name), "/") && (!limited || limit.Cmp(asked) != 0) || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) && !limited {
					all = append(all, explain.Unlimited{ReplicatedJob: job.Name, Container: c.Name, Resource: string(name)})
				}
			}
		}
	}
	return all
}

// waitsOf returns the replicatedJobs without Jobs that wait for another one, as their dependsOn says.
func waitsOf(set *input.JobSetObject) (waits []explain.ReplicatedWait) {
	started := startedOf(set)
	for i := range set.Spec.ReplicatedJobs {
		job := &set.Spec.ReplicatedJobs[i]
		if set.Spec.StartupPolicy.Order == "InOrder" && i > 0 && !started[job.Name] {
			waits = append(waits, explain.ReplicatedWait{ReplicatedJob: job.Name, For: set.Spec.ReplicatedJobs[i-1].Name, Status: "Ready"})
		}
		for _, d := range job.DependsOn {
			if !started[job.Name] {
				waits = append(waits, explain.ReplicatedWait{ReplicatedJob: job.Name, For: d.Name, Status: d.Status})
			}
		}
	}
	return waits
}

// startedOf returns whether each replicatedJob has Jobs, by the status of the JobSet.
func startedOf(set *input.JobSetObject) map[string]bool {
	started := map[string]bool{}
	for _, s := range set.Status.ReplicatedJobsStatus {
		started[s.Name] = s.Ready+s.Succeeded+s.Failed+s.Active+s.Suspended > 0
	}
	return started
}
