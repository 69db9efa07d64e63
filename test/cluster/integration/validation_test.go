package integration

import (
	"encoding/json"
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	batchclient "k8s.io/client-go/kubernetes/typed/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// lint_test.go compares the API server's rejections of new Jobs with lint.

// Fields that the controller may rely on cannot change in an existing Job, even while it is suspended. Mutable fields
// are read again in every sync.
// Requirements: BLI-01, PFP-12, SUC-02, MGB-04, PRP-22
func TestAPIServerKeepsPoliciesOfStoredJobs(t *testing.T) {
	t.Parallel()
	s := newIdleJobs(t)
	limited := s.store("limited", indexed(3), perIndexLimit(1), maxFailedIndexes(1))
	failing := s.store("failing", withRules(1), suspended)
	succeeding := s.store("succeeding", indexed(5), successPolicy(countSucceeds(1)), suspended)
	plain := s.store("plain", indexed(5), suspended)
	rules := func(rules ...any) any { return map[string]any{"rules": rules} }
	exit := onExit(batchv1.PodFailurePolicyActionCount, 7)
	for _, c := range []struct {
		what  string
		job   *batchv1.Job
		field string
		value any
		valid bool
	}{
		{"another limit", limited, "backoffLimitPerIndex", 2, false},
		{"no limit", limited, "backoffLimitPerIndex", nil, false},
		{"another maxFailedIndexes", limited, "maxFailedIndexes", 2, true},
		{"another code", failing, "podFailurePolicy", rules(exit), false},
		{"no failure policy", failing, "podFailurePolicy", nil, false},
		{"a new failure policy", plain, "podFailurePolicy", rules(exit), false},
		{"another field beside a failure policy", failing, "parallelism", 2, true},
		{"another rule", succeeding, "successPolicy", rules(countSucceeds(2)), false},
		{"one more rule", succeeding, "successPolicy", rules(countSucceeds(1), countSucceeds(2)), false},
		{"no success policy", succeeding, "successPolicy", nil, false},
		{"a new success policy", plain, "successPolicy", rules(countSucceeds(1)), false},
		{"another field beside a success policy", succeeding, "backoffLimit", 2, true},
		{"another podReplacementPolicy", plain, "podReplacementPolicy", batchv1.Failed, true},
		{"an unknown podReplacementPolicy", plain, "podReplacementPolicy", "Never", false},
		{"another controller", plain, "managedBy", controller.DefaultManagedBy, false},
		{"no controller", plain, "managedBy", nil, false},
	} {
		s.edits(c.what, c.job, c.field, c.value, c.valid)
	}
}

// Requirements: PRP-01, BLI-01
func TestAPIServerSetsDefaults(t *testing.T) {
	t.Parallel()
	s := newIdleJobs(t)
	for name, c := range map[string]struct {
		options []jobOption
		want    batchv1.PodReplacementPolicy
	}{
		"plain":    {nil, batchv1.TerminatingOrFailed},
		"indexed":  {[]jobOption{indexed(2)}, batchv1.TerminatingOrFailed},
		"policy":   {[]jobOption{withRules(1)}, batchv1.Failed},
		"no-rules": {[]jobOption{failurePolicy()}, batchv1.Failed},
	} {
		assert.Equal(t, ptr.Deref(s.store(name, c.options...).Spec.PodReplacementPolicy, ""), c.want, name)
	}
	if limit := ptr.Deref(s.store("limited", indexed(3), perIndexLimit(1)).Spec.BackoffLimit, 0); limit != 1<<31-1 {
		t.Errorf("backoffLimit is %d by default", limit)
	}
}

// While a Job is suspended and has no active pods, resources and labels of its template may change; since Kubernetes
// 1.37 also the labels that the API server added and that name the Job. New pods follow the new template, and still
// belong to the Job.
// Requirements: JOB-30
func TestResumedJobHasTheNewTemplate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(newJob(completions(2), parallelism(2), onNode, suspended))
	f.untilIs("a", batchv1.JobSuspended)
	f.edit("a", map[string]any{"template": map[string]any{"metadata": map[string]any{"labels": map[string]any{
		batchv1.JobNameLabel: "other", "job-name": nil, "controller-uid": nil, "team": "ml",
	}}}})
	f.edit("a", suspend(false))
	for _, pod := range f.untilActive(2) {
		if _, legacy := pod.Labels["controller-uid"]; pod.Labels[batchv1.JobNameLabel] != "other" || pod.Labels["team"] != "ml" || legacy {
			t.Errorf("pod %s has the labels %v", pod.Name, pod.Labels)
		}
	}
	f.kubelet.play(everySucceeds)
	f.untilComplete("a", 2, 0)
	f.untilReleased()
}

// idleJobs is a namespace of Jobs that no controller runs.
type idleJobs struct {
	t    *testing.T
	jobs batchclient.JobInterface
}

func newIdleJobs(t *testing.T) idleJobs {
	t.Helper()
	client := newClient(t, apiServer.Config, "user")
	return idleJobs{t, client.BatchV1().Jobs(newNamespace(t, client))}
}

func (s idleJobs) store(name string, options ...jobOption) *batchv1.Job {
	s.t.Helper()
	job, err := s.jobs.Create(s.t.Context(), named(name, newJob(append(options, managedBy(otherController))...)), metav1.CreateOptions{})
	assert.NoError(s.t, err, "creating a Job")
	return job
}

// edits checks whether the API server accepts a merge patch of a field of the spec, or names the field in its rejection.
func (s idleJobs) edits(what string, job *batchv1.Job, field string, value any, valid bool) {
	s.t.Helper()
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{field: value}})
	assert.NoError(s.t, err)
	_, err = s.jobs.Patch(s.t.Context(), job.Name, types.MergePatchType, patch, metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
	if valid {
		if err != nil {
			s.t.Errorf("%s: %v", what, err)
		}
		return
	}
	status, isStatus := err.(apierrors.APIStatus)
	if !apierrors.IsInvalid(err) || !isStatus {
		s.t.Errorf("%s: the API server answers %v, want a rejection of spec.%s", what, err, field)
		return
	}
	if causes := status.Status().Details.Causes; !slices.ContainsFunc(causes, func(c metav1.StatusCause) bool { return c.Field == "spec."+field }) {
		s.t.Errorf("%s: the API server rejects %v, want spec.%s", what, causes, field)
	}
}
