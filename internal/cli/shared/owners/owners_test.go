package owners

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// CLI-04: owners are named as in kubectl; other arguments are left.
func TestOwnersAreNamedAsKubectlNamesThem(t *testing.T) {
	owners, rest, err := Split([]string{
		"train", "cronjob/nightly", "CJ/nightly", "cronjobs.batch/weekly", "jobset/set", "jobsets.jobset.x-k8s.io/set", "job/x", "cronjob", "pod/y", "",
	}, cmdutil.OwnerKinds())
	wantOwners := []Owner{{"CronJob", "nightly"}, {"CronJob", "weekly"}, {"JobSet", "set"}}
	if err != nil || !slices.Equal(owners, wantOwners) || !slices.Equal(rest, []string{"train", "job/x", "cronjob", "pod/y", ""}) {
		t.Errorf("%v, %q, %v", owners, rest, err)
	}
	for _, arg := range []string{"cronjob/", "jobset/a/b", "cj/..", "cj/a%b"} {
		if _, _, err := Split([]string{arg}, cmdutil.OwnerKinds()); cmdutil.KindOf(err) != cmdutil.KindUsage {
			t.Errorf("%q: %v", arg, err)
		}
	}
}

// A Job without a pod template has none that differs from that of its CronJob.
// Requirements: CRJ-02
func TestSpecOfPodsMayBeUnknown(t *testing.T) {
	for name, c := range map[string]struct {
		template any
		known    bool
	}{
		"known":      {map[string]any{"spec": map[string]any{"restartPolicy": "Never"}}, true},
		"missing":    {map[string]any{}, false},
		"unreadable": {map[string]any{"spec": map[string]any{"containers": "none"}}, false},
		"no object":  {"none", false},
	} {
		job := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"template": c.template}}}
		assert.Equal(t, (podSpecOf(job) != nil), c.known, name)
	}
}

// A Job belongs to its controller, to the CronJob from whose template a user created it, and to the JobSet of its label; not to an
// object that only has a similar name, or to another kind of object that does not control it.
// Requirements: CLI-04
func TestJobBelongsToItsController(t *testing.T) {
	with := func(kind, name string, controller bool, label string) *unstructured.Unstructured {
		job := clitest.SimpleJob("ns1", "x", 0)
		if kind != "" {
			job.Object["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]any{
				"apiVersion": "batch/v1", "kind": kind, "name": name, "uid": "u", "controller": controller,
			}}
		}
		if label != "" {
			job.SetLabels(map[string]string{jobSetLabel: label})
		}
		return job
	}
	for name, tc := range map[string]struct {
		job  *unstructured.Unstructured
		kind string
		want bool
	}{
		"controlled":                          {with("CronJob", "a", true, ""), "CronJob", true},
		"created by hand":                     {with("CronJob", "a", false, ""), "CronJob", true},
		"owned":                               {with("JobSet", "a", false, ""), "JobSet", false},
		"of another":                          {with("CronJob", "b", true, ""), "CronJob", false},
		"of another kind":                     {with("JobSet", "a", true, ""), "CronJob", false},
		"of nobody":                           {with("", "", false, ""), "CronJob", false},
		"with the label":                      {with("", "", false, "a"), "JobSet", true},
		"with the label, asked for a CronJob": {with("", "", false, "a"), "CronJob", false},
		"with another label":                  {with("", "", false, "b"), "JobSet", false},
	} {
		assert.Equal(t, (Owner{tc.kind, "a"}).Owns(tc.job), tc.want, name)
	}
}
