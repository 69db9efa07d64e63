package gather

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// events reads those of the Job, and those of its pods. The latter are found among all of
// the namespace's: a pod that is gone is told by its name.
func (r *reading) events(ctx context.Context) {
	job := r.facts.Job
	ofJob := fields.Set{"involvedObject.kind": "Job", "involvedObject.name": job.Name}
	if job.UID != "" {
		ofJob["involvedObject.uid"] = string(job.UID)
	}
	if _, err := r.eachEvent(ctx, ofJob, func(explain.Event) bool { return true }); err != nil {
		r.gap("list", "events", err)
		return
	}
	if r.options.WithoutPodEvents {
		return
	}
	mine := make(map[string]bool, len(r.facts.Pods))
	for i := range r.facts.Pods {
		mine[r.facts.Pods[i].Name] = true
	}
	complete, err := r.eachEvent(ctx, fields.Set{"involvedObject.kind": "Pod"}, func(e explain.Event) bool {
		return mine[e.Pod] || mayBePodOf(job, e.Pod) && !e.Last.Before(job.CreationTimestamp.Time)
	})
	switch {
	case err != nil:
		r.gap("list", "events", err)
	case !complete:
		r.facts.Gaps = append(r.facts.Gaps, explain.Gap{What: "events", Text: fmt.Sprintf("the namespace has many events: only %d of those about pods were looked through", maxEvents)})
	default:
		r.facts.EventsRead = true
	}
}

// eachEvent keeps the wanted ones of the first maxEvents; complete says that these are all.
func (r *reading) eachEvent(ctx context.Context, about fields.Set, wanted func(explain.Event) bool) (complete bool, err error) {
	before := len(r.facts.Events)
	seen := 0
	err = eachPage(ctx, metav1.ListOptions{FieldSelector: about.String()}, func(options metav1.ListOptions) (string, error) {
		if options.Continue == "" {
			r.facts.Events, seen = r.facts.Events[:before], 0
		}
		page, err := r.client.CoreV1().Events(r.facts.Job.Namespace).List(ctx, options)
		if err != nil {
			return "", err
		}
		for i := range page.Items {
			if seen++; seen > maxEvents {
				return "", nil
			}
			if e := explain.EventOf(&page.Items[i]); wanted(e) {
				r.facts.Events = append(r.facts.Events, e)
			}
		}
		return page.Continue, nil
	})
	return err == nil && seen <= maxEvents, err
}

// How the API server makes names from generateName: so many bytes of it, and a suffix of
// these letters.
const (
	maxGenerateName = 58
	suffixLength    = 5
	suffixLetters   = "bcdfghjklmnpqrstvwxz2456789"
)

// mayBePodOf says that a Job of this name could have made a pod of that name: the pod is
// gone, and its name is all that is left of it.
func mayBePodOf(job *batchv1.Job, pod string) bool {
	if len(pod) < suffixLength || strings.Trim(pod[len(pod)-suffixLength:], suffixLetters) != "" {
		return false
	}
	made := pod[:len(pod)-suffixLength]
	if job.Spec.CompletionMode == nil || *job.Spec.CompletionMode != batchv1.IndexedCompletion {
		whole := job.Name + "-"
		return made == whole[:min(len(whole), maxGenerateName)]
	}
	rest, isGenerated := strings.CutSuffix(made, "-")
	dash := strings.LastIndexByte(rest, '-')
	if !isGenerated || dash < 0 {
		return false
	}
	text := rest[dash+1:]
	index, err := strconv.ParseInt(text, 10, 32)
	if err != nil || strconv.FormatInt(index, 10) != text || index >= int64(ptr.Deref(job.Spec.Completions, math.MaxInt32)) {
		return false
	}
	room := maxGenerateName - len("-"+text+"-")
	return rest[:dash] == job.Name[:min(len(job.Name), room)]
}
