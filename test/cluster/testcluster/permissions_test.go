package testcluster

import (
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// The verdict on permissions finds a rejected request, an unused permission, and a permission that was used only in
// another namespace (JOB-48).
func TestVerdictFindsUnusedPermissions(t *testing.T) {
	t.Parallel()
	event := func(verb, group, resource, subresource, namespace, decision string) auditEvent {
		e := auditEvent{Verb: verb, User: auditUser{SystemUser}, RequestURI: "/" + resource, Annotations: map[string]string{"authorization.k8s.io/decision": decision}}
		e.ObjectRef = &auditRef{Resource: resource, Subresource: subresource, Namespace: namespace, APIGroup: group}
		return e
	}
	did := []auditEvent{
		event("update", "batch", "jobs", "status", "a", "allow"), event("create", "", "pods", "", "a", "allow"),
		event("get", "coordination.k8s.io", "leases", "", "system", "allow"),
	}
	may := sets.New(Permission{"update", "batch", "jobs/status", ""}, Permission{"create", "", "pods", ""},
		Permission{"get", "coordination.k8s.io", "leases", "system"}, Permission{"update", "batch", "jobs/finalizers", ""})
	misfits := func(may sets.Set[Permission], did []auditEvent) []string {
		u := newUsage(func(time.Time) bool { return false })
		for _, e := range did {
			u.note(e)
		}
		return u.misfits(may)
	}
	assert.Equal(t, len(misfits(may, did)), 0, "all is used")
	for text, c := range map[string]struct {
		more Permission
		did  auditEvent
	}{
		"lets the controller delete pods, and it never did":                             {more: Permission{"delete", "", "pods", ""}},
		"lets the controller update jobs.batch, and":                                    {more: Permission{"update", "batch", "jobs", ""}},
		"lets the controller get leases.coordination.k8s.io in other, and it never did": {more: Permission{"get", "coordination.k8s.io", "leases", "other"}},
		"was refused list /secrets":                                                     {did: event("list", "", "secrets", "", "a", "forbid")},
	} {
		more := may.Clone()
		if c.more.Verb != "" {
			more.Insert(c.more)
		}
		happened := did
		if c.did.Verb != "" {
			happened = append(slices.Clone(did), c.did)
		}
		if problems := misfits(more, happened); len(problems) != 1 || !strings.Contains(problems[0], text) {
			t.Errorf("%q, which should say %q", problems, text)
		}
	}
}
