package gather

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
)

func (r *reading) pods(ctx context.Context) {
	var err error
	if r.facts.Pods, err = podsOf(ctx, r.client, r.facts.Job); err != nil {
		r.gap("list", "pods", err)
		return
	}
	r.facts.PodsRead = true
}

// podsOf reads the pods that the Job controls. It returns no pods with an error.
func podsOf(ctx context.Context, client kube.Interface, job *batchv1.Job) (pods []*explain.Pod, err error) {
	begin := func() { pods = make([]*explain.Pod, 0, ExpectedPods(job)) }
	if _, err = EachPod(ctx, client, job, begin, func(pod *corev1.Pod) { pods = append(pods, explain.PodOf(pod)) }); err != nil {
		return nil, err
	}
	return pods, nil
}

// ExpectedPods returns the number of pods that the Job's status counts; pods that ended may be gone. The number is limited,
// as a status may contain anything.
func ExpectedPods(job *batchv1.Job) int64 {
	s := &job.Status
	all := int64(s.Active) + int64(s.Succeeded) + int64(s.Failed) + int64(ptr.Deref(s.Terminating, 0))
	return min(max(0, all), maxExpectedPods)
}

// PodSelector returns the label selector for the pods of the Job. It may match other pods too: their owner decides. A Job
// without a selector has no pods yet.
func PodSelector(job *batchv1.Job) (string, error) {
	if job.Spec.Selector == nil {
		return podsNamedAfter(job.Name), nil
	}
	selector, err := metav1.LabelSelectorAsSelector(job.Spec.Selector)
	if err != nil {
		return "", fmt.Errorf("the Job's selector: %w", err)
	}
	return selector.String(), nil
}

func podsNamedAfter(job string) string { return batchv1.JobNameLabel + "=" + job }

// CountPods returns the number of pods with the label of a Job of this name, which may be gone.
func CountPods(ctx context.Context, client kube.Interface, namespace, job string) (count int, err error) {
	reader := &podReader{client: client, namespace: namespace, fields: kube.Fields{}}
	options := metav1.ListOptions{LabelSelector: podsNamedAfter(job), Limit: podPageSize}
	err = eachPage(ctx, options, func(options metav1.ListOptions) (string, error) {
		if options.Continue == "" {
			count = 0
		}
		page, err := reader.read(ctx, options, func(*corev1.Pod) { count++ })
		return page.Continue, err
	})
	return count, err
}

// EachPod reads the pods that the Job controls, in pages, and returns the resourceVersion to watch from. begin is called
// before the first page, and again if reading has to start over. each must not keep the pod after it returns; the pod has the
// fields that explanations and logs need.
func EachPod(ctx context.Context, client kube.Interface, job *batchv1.Job, begin func(), each func(*corev1.Pod)) (version string, err error) {
	selector, err := PodSelector(job)
	if err != nil {
		return "", err
	}
	return EachPodOf(ctx, client, job, selector, begin, each)
}

// EachPodOf is EachPod with a custom selector, such as for some of the Job's pods.
func EachPodOf(ctx context.Context, client kube.Interface, job *batchv1.Job, selector string, begin func(), each func(*corev1.Pod)) (version string, err error) {
	return eachPod(ctx, &podReader{client: client, namespace: job.Namespace, fields: neededOfPods()}, job, selector, begin, each)
}

// EachWholePod is EachPod with all fields.
func EachWholePod(ctx context.Context, client kube.Interface, job *batchv1.Job, begin func(), each func(*corev1.Pod)) (version string, err error) {
	selector, err := PodSelector(job)
	if err != nil {
		return "", err
	}
	return eachPod(ctx, &podReader{client: client, namespace: job.Namespace}, job, selector, begin, each)
}

func eachPod(ctx context.Context, reader *podReader, job *batchv1.Job, selector string, begin func(), each func(*corev1.Pod)) (version string, err error) {
	options := metav1.ListOptions{LabelSelector: selector, Limit: podPageSize}
	err = eachPage(ctx, options, func(options metav1.ListOptions) (string, error) {
		if options.Continue == "" {
			begin()
		}
		page, err := reader.read(ctx, options, func(pod *corev1.Pod) {
			if observe.JobUID(pod) == job.UID {
				each(pod)
			}
		})
		version = page.ResourceVersion
		return page.Continue, err
	})
	return version, err
}

// eachPage requests page after page of options.Limit objects, until read returns no continue token. When a token has expired,
// it starts over without pages.
func eachPage(ctx context.Context, options metav1.ListOptions, read func(metav1.ListOptions) (next string, err error)) error {
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
