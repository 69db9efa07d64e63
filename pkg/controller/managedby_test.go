package controller

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// MGB-02, D-27: the valid names; the reserved name is valid only if we replace the built-in controller.
func TestManagedByMustBeADomainAndAPath(t *testing.T) {
	for name, ok := range map[string]bool{
		DefaultManagedBy: true, "example.com/jobs": true, "example.com/a/b": true,
		"": false, "jobs": false, "/jobs": false, "example.com/": false, "Example.com/x": false,
		"kubernetes.io/job-controller":           false,
		"example.com/" + strings.Repeat("x", 51): true,
		"example.com/" + strings.Repeat("x", 52): false,
	} {
		assert.Equal(t, ValidateManagedBy(name, false) == nil, ok, name)
		assert.Equal(t, (ValidateManagedBy(name, true) == nil), (ok || name == batchv1.JobControllerName), name)
	}
}

// MGB-01, MGB-02: a Job is ours if it names us, or, if we replace the built-in controller, if it names that controller
// or none.
func TestOursAreTheJobsThatNameUs(t *testing.T) {
	for _, c := range []struct {
		value          *string
		ours, replaced bool
	}{
		{nil, false, true},
		{ptr.To(batchv1.JobControllerName), false, true},
		{ptr.To("example.com/x"), false, false},
		{ptr.To(""), false, false},
		{ptr.To(DefaultManagedBy), true, true},
	} {
		job := &batchv1.Job{Spec: batchv1.JobSpec{ManagedBy: c.value}}
		beside := Config{ManagedBy: DefaultManagedBy}
		instead := Config{ManagedBy: DefaultManagedBy, ReplaceBuiltin: true}
		beside.setDefaults()
		instead.setDefaults()
		if beside.owns(job) != c.ours || instead.owns(job) != c.replaced {
			t.Errorf("%v: beside the built-in controller %v, in its place %v", ptr.Deref(c.value, "nil"), beside.owns(job), instead.owns(job))
		}
	}
}
