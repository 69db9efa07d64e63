package gather

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
)

func (r *reading) pods(ctx context.Context) {
	var err error
	if r.facts.Pods, err = Pods(ctx, r.client, r.facts.Job, explain.PodOf); err != nil {
		r.gap("list", "pods", err)
		return
	}
	r.facts.PodsRead = true
}

// Pods reads what keep makes of the pods that the Job controls. There are none with an error.
func Pods[T any](ctx context.Context, client kubernetes.Interface, job *batchv1.Job, keep func(*corev1.Pod) T) (pods []T, err error) {
	if _, err = EachPod(ctx, client, job, func() { pods = nil }, func(pod *corev1.Pod) { pods = append(pods, keep(pod)) }); err != nil {
		return nil, err
	}
	return pods, nil
}

// PodSelector selects the pods of the Job, and perhaps others: the owner decides. It is ""
// for a Job without a selector, which has no pods yet.
func PodSelector(job *batchv1.Job) (string, error) {
	if job.Spec.Selector == nil {
		return "", nil
	}
	selector, err := metav1.LabelSelectorAsSelector(job.Spec.Selector)
	if err != nil {
		return "", fmt.Errorf("the Job's selector: %w", err)
	}
	return selector.String(), nil
}

// EachPod reads the pods that the Job controls, in pages, and returns the resourceVersion to
// watch from. begin comes before the first page: once more if reading has to start over. A
// pod is each's only until it returns.
func EachPod(ctx context.Context, client kubernetes.Interface, job *batchv1.Job, begin func(), each func(*corev1.Pod)) (version string, err error) {
	selector, err := PodSelector(job)
	if err != nil {
		return "", err
	}
	err = eachPage(ctx, metav1.ListOptions{LabelSelector: selector}, func(options metav1.ListOptions) (string, error) {
		if options.Continue == "" {
			begin()
		}
		page, err := client.CoreV1().Pods(job.Namespace).List(ctx, options)
		if err != nil {
			return "", err
		}
		for i := range page.Items {
			if pod := &page.Items[i]; observe.JobUID(pod) == job.UID {
				each(pod)
			}
		}
		version = page.ResourceVersion
		return page.Continue, nil
	})
	return version, err
}

// eachPage asks for page after page, until read returns no token for a next one. When the
// token has expired, it begins again without pages.
func eachPage(ctx context.Context, options metav1.ListOptions, read func(metav1.ListOptions) (next string, err error)) error {
	options.Limit = pageSize
	for {
		next, err := read(options)
		switch {
		case apierrors.IsResourceExpired(err) && options.Continue != "":
			options.Continue, options.Limit = "", 0
			continue
		case err != nil:
			return err
		case next == "":
			return ctx.Err()
		}
		options.Continue = next
	}
}
