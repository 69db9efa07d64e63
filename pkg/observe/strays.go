package observe

import (
	"cmp"
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// strayIndex holds the strays by namespace, and by their label with the UID of the
// controlling Job ("" for none): generated selectors match that label.
type strayIndex map[string]map[types.UID][]*row[podRow]

func (x strayIndex) add(entry *row[podRow]) {
	r := &entry.value
	if !r.isStray() {
		return
	}
	byLabel := x[r.more.namespace]
	if byLabel == nil {
		byLabel = map[types.UID][]*row[podRow]{}
		x[r.more.namespace] = byLabel
	}
	label := r.controllerLabel()
	r.more.strayAt = len(byLabel[label])
	byLabel[label] = append(byLabel[label], entry)
}

// remove removes a stray; the last stray moves to its position.
func (x strayIndex) remove(r podRow) {
	if !r.isStray() {
		return
	}
	byLabel, label := x[r.more.namespace], r.controllerLabel()
	rows := byLabel[label]
	last := len(rows) - 1
	if r.more.strayAt != last {
		rows[r.more.strayAt] = rows[last]
		rows[last].value.more.strayAt = r.more.strayAt
	}
	rows[last] = nil
	if byLabel[label] = rows[:last]; last > 0 {
		return
	}
	if delete(byLabel, label); len(byLabel) == 0 {
		delete(x, r.more.namespace)
	}
}

func (r podRow) controllerLabel() types.UID {
	return types.UID(r.labels()[batchv1.ControllerUidLabel])
}

// Strays returns the pods of the Job's namespace that match its selector, have no
// controller, and are not being deleted. They must not be changed.
func (c *Cache) Strays(job *batchv1.Job) []*reconcile.Pod {
	c.mu.RLock()
	defer c.mu.RUnlock()
	byLabel := c.strays[job.Namespace]
	if len(byLabel) == 0 || job.Spec.Selector == nil {
		return nil
	}
	var rows []*row[podRow]
	if label, ok := job.Spec.Selector.MatchLabels[batchv1.ControllerUidLabel]; ok {
		rows = byLabel[types.UID(label)]
	} else {
		for _, label := range slices.Sorted(maps.Keys(byLabel)) {
			rows = append(rows, byLabel[label]...)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	selector := selectorOf(job)
	var out []*reconcile.Pod
	for _, entry := range rows {
		r := &entry.value
		if !r.pod.Deleting && selector.selects(r.more.labels) {
			out = append(out, r.pod)
		}
	}
	slices.SortFunc(out, func(a, b *reconcile.Pod) int { return cmp.Compare(a.UID, b.UID) })
	return out
}

// affected returns the Jobs that may adopt a pod that has just become a stray or has new labels, and its former Job,
// which otherwise removes the finalizer. The caller holds the lock.
func (c *Cache) affected(old, now podRow) []*batchv1.Job {
	if !now.isStray() || old.isStray() && maps.Equal(old.labels(), now.labels()) {
		return nil
	}
	affected := c.adopters(now)
	if former := c.job(now.job); former != nil && now.pod.Finalizer && !slices.Contains(affected, former) {
		affected = append(affected, former)
	}
	return affected
}

// adopters returns the Jobs whose selector matches a stray, unless it is being deleted. The
// caller holds the lock.
func (c *Cache) adopters(now podRow) (adopters []*batchv1.Job) {
	if now.pod.Deleting {
		return nil
	}
	candidates := []types.UID{now.controllerLabel()}
	for _, uid := range slices.Sorted(maps.Keys(c.manual[now.more.namespace])) {
		if uid != candidates[0] {
			candidates = append(candidates, uid)
		}
	}
	for _, uid := range candidates {
		if job := c.job(uid); job != nil && job.Namespace == now.more.namespace && selectorOf(job).selects(now.more.labels) {
			adopters = append(adopters, job)
		}
	}
	return adopters
}

// manualJobs holds the Jobs, by namespace, whose selector does not match the label with their own UID: their strays can
// be found only by evaluating the selector.
type manualJobs map[string]map[types.UID]bool

func (m manualJobs) note(job *batchv1.Job) {
	if s := job.Spec.Selector; s == nil || s.MatchLabels[batchv1.ControllerUidLabel] == string(job.UID) {
		return
	}
	if m[job.Namespace] == nil {
		m[job.Namespace] = map[types.UID]bool{}
	}
	m[job.Namespace][job.UID] = true
}

func (m manualJobs) forget(job *batchv1.Job) {
	if delete(m[job.Namespace], job.UID); len(m[job.Namespace]) == 0 {
		delete(m, job.Namespace)
	}
}

// Selects reports whether the Job's selector matches these labels. A missing or invalid
// selector matches nothing.
func Selects(job *batchv1.Job, labels map[string]string) bool {
	if job != nil && job.Spec.Selector != nil {
		// Most selectors are generated: this is fast when many Jobs are checked for one pod.
		uid, generated := job.Spec.Selector.MatchLabels[batchv1.ControllerUidLabel]
		if generated && uid != labels[batchv1.ControllerUidLabel] {
			return false
		}
	}
	return !selectorOf(job).rejects(labels)
}

// selector is a Job's parsed selector. Without a Job, or with a missing or invalid
// selector, which API servers do not store, it neither selects nor rejects anything.
type selector struct{ known labels.Selector }

func selectorOf(job *batchv1.Job) selector {
	if job == nil || job.Spec.Selector == nil {
		return selector{}
	}
	s, err := metav1.LabelSelectorAsSelector(job.Spec.Selector)
	if err != nil {
		return selector{}
	}
	return selector{s}
}

func (s selector) selects(l map[string]string) bool {
	return s.known != nil && s.known.Matches(labels.Set(l))
}
func (s selector) rejects(l map[string]string) bool {
	return s.known != nil && !s.known.Matches(labels.Set(l))
}
