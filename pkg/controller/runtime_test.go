package controller

import (
	"context"
	"sync"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/kubefake"
)

// A clientset without a connection, as in tests, uses the typed client.
func TestFakeClientServesTypedJobs(t *testing.T) {
	client := fake.NewClientset(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "ns", UID: types.UID("u"), ResourceVersion: "1"}})
	r, err := New(Config{Client: kubefake.Client(client)})
	assert.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	if !r.startWatches(ctx, &wg) || r.cache.Job("u") == nil {
		t.Error("the Job is not there")
	}
	cancel()
	wg.Wait()
}
