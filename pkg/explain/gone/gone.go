// Package gone explains a Job that does not exist by what it left behind: its pods, its events, and the objects around it.
package gone

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/typo"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Traces are what a Job that does not exist left behind. What could not be read is empty.
type Traces struct {
	Now             time.Time
	Namespace, Name string
	// NamespaceDeleted reports whether the namespace is being deleted.
	NamespaceDeleted bool
	// Pods have the label with the name of the Job, Events are about a Job of that name.
	Pods   []*corev1.Pod
	Events []corev1.Event
	// PodOf is the Job of the pod that has the Name; "" if there is no such pod.
	PodOf string
	// CronJob is the existing CronJob that has the Name, or gives such names to its Jobs; Jobs are the names of the Jobs that exist.
	CronJob string
	Jobs    []string
}

// scheduled matches the name of a CronJob's Job: the name of the CronJob, and the time of the start in minutes.
var scheduled = regexp.MustCompile(`^(.+)-\d{8,10}$`)

// CronJobOf returns the name that the CronJob would have if it had created the Job, "" if no CronJob names Jobs so.
func CronJobOf(job string) string {
	if m := scheduled.FindStringSubmatch(job); m != nil {
		return m[1]
	}
	return ""
}

// Explain returns what became of the Job, as the end of a sentence about it, and what to do. Both may be "".
func (t *Traces) Explain() (what, hint string) {
	in := " -n " + t.Namespace
	switch e := t.last(); {
	case t.PodOf != "":
		return "it is a pod of job " + t.PodOf, "run: kubectl batchjob why " + t.PodOf + in
	case t.NamespaceDeleted:
		return wording.Join("; ", "the namespace is being deleted, so no Job can be created in it", t.history(e), t.left()),
			"see what it waits for: kubectl describe namespace " + t.Namespace
	case len(t.Pods) > 0:
		do := "see them with: kubectl get"
		if t.Pods[0].DeletionTimestamp == nil { // The Job was deleted without them.
			do = "nothing deletes its pods now; if nobody needs them, run: kubectl delete"
		}
		return wording.Join("; ", t.history(e), t.left()), do + " pods -l " + batchv1.JobNameLabel + "=" + t.Name + in
	case e != nil:
		what = t.history(e)
		if ended(e) {
			what += "; its ttlSecondsAfterFinished, a user, or a tool deleted it since"
			if t.CronJob == "" {
				what += "; if a tool such as Helm or Argo CD waits for it, leave out ttlSecondsAfterFinished or make it longer, and use a hook-delete-policy instead"
			}
		}
		return what, cmp.Or(t.cronJobHint(), "see its events with: kubectl get events --field-selector involvedObject.name="+t.Name+in)
	case t.CronJob != "":
		return "", t.cronJobHint()
	}
	if similar := t.similar(); similar != "" {
		return "", "did you mean " + similar + "?"
	}
	return "", ""
}

func (t *Traces) cronJobHint() string {
	what := "its CronJob exists"
	switch t.CronJob {
	case "":
		return ""
	case t.Name:
		what = "it is a CronJob"
	}
	return what + ": kubectl batchjob why cronjob/" + t.CronJob + " -n " + t.Namespace
}

// last returns the event that says most about the end of the Job: the last one about its end, or else the last one; nil if there is none.
func (t *Traces) last() (last *corev1.Event) {
	for i := range t.Events {
		e := &t.Events[i]
		if last == nil || ended(e) && !ended(last) || ended(e) == ended(last) && lastSeen(last).Before(lastSeen(e)) {
			last = e
		}
	}
	return last
}

func lastSeen(e *corev1.Event) time.Time { return input.EventOf(e).Last }

// strayOwner is the reason of the garbage collector's event about an object whose owner is in another namespace.
const strayOwner = "OwnerRefInvalidNamespace"

// ownerRef matches the owner in that event.
var ownerRef = regexp.MustCompile(`ownerRef \[(?:[^,\]]*/)?(\w+), namespace: [^,]*, name: ([^,\]]+)`)

// maxMessage is the maximum length of the message of an event.
const maxMessage = 120

// ended reports whether the event is about the end of a Job.
func ended(e *corev1.Event) bool { return input.IsEndOfJob(e.Reason) }

// history returns what the last event and the number of Jobs of that name say, "" without events.
func (t *Traces) history(e *corev1.Event) string {
	if e == nil {
		return ""
	}
	ago := wording.Duration(max(0, t.Now.Sub(lastSeen(e)))) + " ago"
	text := fmt.Sprintf("it existed %s (event %s)", ago, e.Reason)
	uids := map[types.UID]bool{}
	for i := range t.Events {
		uids[t.Events[i].InvolvedObject.UID] = true
	}
	switch {
	case e.Reason == input.EventCompleted:
		text = "it completed " + ago
	case ended(e):
		text = fmt.Sprintf("it failed %s (%s)", ago, e.Reason)
	case e.Reason == strayOwner:
		owner := "its owner"
		if m := ownerRef.FindStringSubmatch(e.Message); m != nil {
			owner += ", " + m[1] + " " + m[2] + ","
		}
		text = fmt.Sprintf("the garbage collector deleted it %s, as %s is not in its namespace, where an owner has to be", ago, owner)
	case e.Reason == "SuccessfulCreate" && len(t.Pods) == 0 && len(uids) == 1:
		text = fmt.Sprintf("its pod was created %s, and no event shows that it ended: something deleted it before", ago)
	case e.Type == corev1.EventTypeWarning:
		text = fmt.Sprintf("it existed %s (event %s: %s)", ago, e.Reason, wording.Shorten(e.Message, maxMessage))
	}
	if len(uids) > 1 {
		text += fmt.Sprintf("; its events are about %d Jobs of that name, so something deletes and creates it again", len(uids))
	}
	return text
}

// left describes the pods that are left, by the first of them.
func (t *Traces) left() string {
	if len(t.Pods) == 0 {
		return ""
	}
	p := t.Pods[0]
	state := string(p.Status.Phase)
	switch {
	case p.DeletionTimestamp != nil && len(p.Finalizers) > 0:
		state = "being deleted, held by the finalizer " + p.Finalizers[0]
		if p.Finalizers[0] == batchv1.JobTrackingFinalizer {
			state += ", which a webhook or policy on updates of pods may keep"
		}
	case p.DeletionTimestamp != nil:
		state = "being deleted"
	}
	text := fmt.Sprintf("its pod %s is still there (%s)", p.Name, state)
	if n := len(t.Pods) - 1; n > 0 {
		text = fmt.Sprintf("its pods are still there: %s (%s) and %s", p.Name, state, wording.Plural(n, "other", "others"))
	}
	return text
}

// similar returns the existing Job whose name is closest, "" if none is close.
func (t *Traces) similar() string {
	best, least := "", 2+len(t.Name)/4
	for _, name := range slices.Sorted(slices.Values(t.Jobs)) {
		if d := typo.Distance(t.Name, name); d < least {
			best, least = name, d
		}
	}
	return best
}
