package controller

import (
	"context"
	"sync"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
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

// slowClient creates pods when create returns.
type slowClient struct {
	kube.Interface
	create func(pod *corev1.Pod)
}

type (
	slowCore struct {
		kube.CoreV1
		create func(pod *corev1.Pod)
	}
	slowPods struct {
		kube.Pods
		create func(pod *corev1.Pod)
	}
)

// IsWatchListSemanticsUnSupported makes Reflectors list and then watch, as with any fake.
func (slowClient) IsWatchListSemanticsUnSupported() bool { return true }

func (c slowClient) CoreV1() kube.CoreV1 { return slowCore{c.Interface.CoreV1(), c.create} }
func (c slowCore) Pods(namespace string) kube.Pods {
	return slowPods{c.CoreV1.Pods(namespace), c.create}
}
func (c slowPods) Create(ctx context.Context, pod *corev1.Pod, options metav1.CreateOptions) (*corev1.Pod, error) {
	c.create(pod)
	return c.Pods.Create(ctx, pod, options)
}

// A Job whose call waits for an answer holds up no other Job.
// Requirements: JOB-57, SCL-12
func TestWaitingCallHoldsUpNoOtherJob(t *testing.T) {
	job := func(name string) *batchv1.Job {
		j := ourJob(1)
		j.Name, j.UID = name, types.UID(name)
		return j
	}
	created, lift := make(chan string, 10), make(chan struct{})
	client := slowClient{kubefake.Client(fake.NewClientset(job("waits"), job("goes"))), func(pod *corev1.Pod) {
		owner := metav1.GetControllerOf(pod).Name
		if owner == "waits" {
			<-lift
		}
		pod.Name, pod.UID = owner+"-pod", types.UID(owner+"-pod") // as the API server does
		created <- owner
	}}
	r, err := New(Config{Client: client, Workers: 2})
	assert.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _ = r.Run(ctx) })
	assert.Equal(t, <-created, "goes", "first")
	close(lift)
	assert.Equal(t, <-created, "waits", "second")
	cancel()
	wg.Wait()
}
