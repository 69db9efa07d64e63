package invariants

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// The field managers in metadata.managedFields (MGB-13).
const (
	ourManager     = "kubectl-batchjob-controller"
	builtInManager = "kube-controller-manager"
	retryManager   = "kubectl-batchjob"
)

// Kind is the kind of controller that runs a Job, by its spec.managedBy.
type Kind string

// The four kinds of Jobs.
const (
	// Ours are Jobs of a controller of this project.
	Ours Kind = "ours"
	// Unmanaged are Jobs without spec.managedBy, Reserved are Jobs that name the built-in controller: it runs both.
	Unmanaged Kind = "built-in"
	Reserved  Kind = "built-in by its reserved name"
	// Foreign are Jobs that name any other controller.
	Foreign Kind = "foreign"
)

// Territory checks that two controllers in one cluster keep to their own Jobs (S8; MGB-01, MGB-05, MGB-13). It sees
// which client set a field, not which one removed a field: a tracking finalizer that is removed too early is S2 of
// Check.
//
// The pod garbage collector, the TTL controller and others in kube-controller-manager also write under its name. They
// delete objects, and write the status of pods.
type Territory struct {
	names  []string
	counts map[Kind]*census
}

// census counts the Jobs of a kind.
type census struct {
	// jobs is the number of Jobs seen, written the number whose status their controller has written.
	jobs, written int
}

// NewTerritory returns a Territory in which our controllers run the Jobs with these managedBy values.
func NewTerritory(names ...string) *Territory {
	t := &Territory{counts: map[Kind]*census{}}
	t.Own(names...)
	for _, kind := range kinds {
		t.counts[kind] = &census{}
	}
	return t
}

// Own adds managedBy values of our controllers.
func (t *Territory) Own(names ...string) {
	t.names = slices.Compact(slices.Sorted(slices.Values(slices.Concat(t.names, names))))
}

var kinds = []Kind{Ours, Unmanaged, Reserved, Foreign}

// KindOf returns the kind of controller that runs the Job.
func (t *Territory) KindOf(job *batchv1.Job) Kind {
	switch {
	case job.Spec.ManagedBy == nil:
		return Unmanaged
	case *job.Spec.ManagedBy == batchv1.JobControllerName:
		return Reserved
	case slices.Contains(t.names, *job.Spec.ManagedBy):
		return Ours
	}
	return Foreign
}

// Check checks all versions of the Jobs and pods of a namespace, in the order in which they were stored, and returns the
// writes to another controller's objects. It counts Jobs, so each Job must be passed only once.
func (t *Territory) Check(versions []history.Version) []Violation {
	p := &patrol{Territory: t, jobs: map[types.UID]*claim{}, known: map[string]bool{}}
	for _, v := range versions {
		if v.Job != nil {
			p.job(v)
		} else {
			p.pod(v)
		}
	}
	for _, c := range p.jobs {
		n := t.counts[c.kind]
		n.jobs++
		if c.written {
			n.written++
		}
	}
	return ordered(p.violations)
}

type patrol struct {
	*Territory
	jobs       map[types.UID]*claim
	known      map[string]bool
	violations []Violation
}

// claim is a Job and its kind.
type claim struct {
	job           *batchv1.Job
	kind          Kind
	gone, written bool
}

func (p *patrol) job(v history.Version) {
	c := p.jobs[v.Job.UID]
	if c == nil {
		c = &claim{kind: p.KindOf(v.Job)}
		p.jobs[v.Job.UID] = c
	}
	c.job, c.gone = v.Job, v.Gone
	for _, f := range v.Job.ManagedFields {
		isStatus := f.Subresource == "status"
		switch {
		case f.Manager == ourManager && c.kind != Ours:
			p.trespass(v, c, "MGB-01", f)
		case f.Manager == builtInManager && isStatus && c.isManaged():
			p.trespass(v, c, "MGB-05", f)
		case isStatus && (f.Manager == ourManager || f.Manager == builtInManager):
			c.written = true
		}
	}
}

// isManaged reports whether the built-in controller must not touch the Job.
func (c *claim) isManaged() bool { return c.kind == Ours || c.kind == Foreign }

func (p *patrol) pod(v history.Version) {
	c := p.jobs[jobOf(v)]
	if c == nil {
		return
	}
	for _, f := range v.Pod.ManagedFields {
		switch {
		case f.Manager == ourManager && c.kind != Ours:
			p.trespass(v, c, "MGB-01", f)
		case f.Manager == builtInManager && f.Subresource == "" && c.isManaged() && !c.gone:
			p.trespass(v, c, "MGB-05", f)
		}
	}
}

// jobOf returns the UID of the Job that the pod belongs to, or by its label once belonged to.
func jobOf(v history.Version) types.UID {
	if uid := history.JobOf(v.Pod); uid != "" {
		return uid
	}
	return types.UID(v.Pod.Labels[batchv1.ControllerUidLabel])
}

// trespass reports a foreign write, once per object, manager and subresource.
func (p *patrol) trespass(v history.Version, c *claim, invariant string, f metav1.ManagedFieldsEntry) {
	what, object := "Job", v.Object()
	if v.Pod != nil {
		what = "pod"
	}
	key := fmt.Sprint(object.GetUID(), f.Manager, f.Subresource)
	if p.known[key] {
		return
	}
	p.known[key] = true
	path := strings.TrimSuffix(what+" "+object.GetName()+", "+f.Subresource, ", ")
	p.violations = append(p.violations, Violation{
		Invariant: invariant, Job: c.job, Revision: v.Revision, Text: fmt.Sprintf("%s has written %s, of a Job that is %s", f.Manager, path, c.kind),
	})
}

// Missing returns a message for each kind of Job that did not occur or was not worked on: Check proves nothing about it
// then.
func (t *Territory) Missing() (missing []string) {
	for _, kind := range kinds {
		switch n := t.counts[kind]; {
		case n.jobs == 0:
			missing = append(missing, fmt.Sprintf("there was no Job that is %s", kind))
		case n.written == 0 && kind != Foreign:
			missing = append(missing, fmt.Sprintf("nobody wrote the status of a Job that is %s", kind))
		}
	}
	return missing
}

// String returns the number of Jobs of each kind, and how many have a status.
func (t *Territory) String() string {
	var parts []string
	for _, kind := range kinds {
		parts = append(parts, fmt.Sprintf("%d %s (%d with a status)", t.counts[kind].jobs, kind, t.counts[kind].written))
	}
	return strings.Join(parts, ", ")
}
