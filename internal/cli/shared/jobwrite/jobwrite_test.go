package jobwrite

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

func clientOf(t *testing.T, api *clitest.Writes, options metav1.CreateOptions) Client {
	t.Helper()
	client, err := dynamic.NewForConfig(&rest.Config{Host: api.API.URL()})
	assert.NoError(t, err)
	jobs := client.Resource(batchv1.SchemeGroupVersion.WithResource("jobs"))
	return New(feed.JobSet{Client: jobs.Namespace("ns1"), Namespace: "ns1"}, options)
}

func marked(name string) *unstructured.Unstructured {
	job := clitest.SimpleJob("ns1", name, 0)
	Mark(job, "")
	return job
}

// A Job of the same name with another UID stays as it is.
func TestWritesHaveTheUIDAsAPrecondition(t *testing.T) {
	api := clitest.NewWrites(t, clitest.SimpleJob("ns1", "a", 0))
	c := clientOf(t, api, metav1.CreateOptions{})
	ctx, uid := t.Context(), api.Job("a").GetUID()
	for what, err := range map[string]error{
		"suspend": c.SetSuspend(ctx, "a", "other", true), "delete": c.Delete(ctx, "a", "other", ""), "delete an older version": c.Delete(ctx, "a", uid, "old"),
	} {
		if !apierrors.IsConflict(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, want := range []bool{true, false} {
		err := c.SetSuspend(ctx, "a", uid, want)
		if got, _, _ := unstructured.NestedBool(api.Job("a").Object, "spec", "suspend"); err != nil || got != want {
			t.Errorf("suspend is %t, want %t; %v", got, want, err)
		}
	}
	if err := c.Delete(ctx, "a", uid, ""); err != nil || api.Job("a") != nil {
		t.Errorf("%v", err)
	}
}

// A request that is not sent, and one that stores nothing, leave no doubt, so the Job is not looked for.
// Requirements: RUN-14, RTY-27
func TestCreationWithoutDoubt(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for what, c := range map[string]struct {
		ctx     context.Context
		options metav1.CreateOptions
	}{
		"canceled before it is sent": {canceled, metav1.CreateOptions{}},
		"a dry run":                  {t.Context(), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}},
	} {
		api := clitest.NewWrites(t)
		api.Around = func(string, *http.Request, func()) { panic(http.ErrAbortHandler) }
		api.API.SetRefuse(func(r *http.Request) *clitest.Status {
			t.Errorf("%s: %s %s", what, r.Method, r.URL.Path)
			return nil
		})
		job, err := clientOf(t, api, c.options).CreateOnce(c.ctx, c.ctx, marked("a"), nil)
		if unknown, is := errors.AsType[*UnknownError](err); is || err == nil || job != nil {
			t.Errorf("%s: %v, %v", what, err, unknown)
		}
	}
}

// If another Job has a generated name, another name is generated; a given name is an error, with that Job.
// Requirements: RUN-14
func TestCreationMeetsAnotherJob(t *testing.T) {
	api := clitest.NewWrites(t, clitest.SimpleJob("ns1", "a", 0))
	c := clientOf(t, api, metav1.CreateOptions{})
	if job, err := c.CreateOnce(t.Context(), t.Context(), marked("a"), nil); !apierrors.IsAlreadyExists(err) || job.GetUID() != api.Job("a").GetUID() {
		t.Errorf("%v, %v", job, err)
	}
	job, first := marked(""), ""
	job.SetGenerateName("b-")
	api.Around = func(_ string, _ *http.Request, serve func()) {
		if first == "" {
			first = job.GetName()
			api.API.Put(clitest.SimpleJob("ns1", first, 0))
		}
		serve()
	}
	made, err := c.CreateOnce(t.Context(), t.Context(), job, nil)
	if err != nil || made.GetName() == first || !strings.HasPrefix(made.GetName(), "b-") || !IsSameRequest(made, job) {
		t.Errorf("%v, %v after %s", made, err, first)
	}
	assert.SlicesEqual(t, api.Calls(), []string{"create jobs", "create jobs", "create jobs"})
}
