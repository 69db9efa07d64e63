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

// strayIndex holds the strays by namespace, and by their label of the
// controlling Job ("" for none): selectors ask for that label, unless they were
// written by hand.
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

// remove takes a stray out; the last one takes its place.
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

// Strays returns the pods of the Job's namespace that nobody controls, that are not
// being deleted, and that the Job's selector selects. They must not be changed.
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

// newAdopters returns the Jobs that would adopt a pod which has just become a stray,
// or has other labels than before. The caller holds the lock.
func (c *Cache) newAdopters(old, now podRow) []*batchv1.Job {
	if !now.isStray() || old.isStray() && maps.Equal(old.labels(), now.labels()) {
		return nil
	}
	return c.adopters(now)
}

// adopters are the Jobs whose selector selects a stray, unless that is being deleted. The
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

// noteManual keeps apart the Jobs whose selector is not on the label with their own
// UID: their strays are found by their selector only.
func (c *Cache) noteManual(job *batchv1.Job) {
	if s := job.Spec.Selector; s == nil || s.MatchLabels[batchv1.ControllerUidLabel] == string(job.UID) {
		return
	}
	if c.manual[job.Namespace] == nil {
		c.manual[job.Namespace] = map[types.UID]bool{}
	}
	c.manual[job.Namespace][job.UID] = true
}

func (c *Cache) forgetManual(job *batchv1.Job) {
	if delete(c.manual[job.Namespace], job.UID); len(c.manual[job.Namespace]) == 0 {
		delete(c.manual, job.Namespace)
	}
}

// Selects reports whether the Job's selector selects an object with these labels, as far as
// the Job has one that can be read.
func Selects(job *batchv1.Job, labels map[string]string) bool {
	if job != nil && job.Spec.Selector != nil {
		// Most selectors were generated: this is quick where many Jobs are asked about one pod.
		uid, generated := job.Spec.Selector.MatchLabels[batchv1.ControllerUidLabel]
		if generated && uid != labels[batchv1.ControllerUidLabel] {
			return false
		}
	}
	return !selectorOf(job).rejects(labels)
}

// selector is a Job's. It knows nothing for no Job, and for one without a selector or
// with one that cannot be read: API servers store none such.
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
