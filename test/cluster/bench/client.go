//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"
)

// api is the client of the benchmark: administrator, no rate limit, protobuf.
type api struct {
	kubernetes.Interface
}

func newAPI(kubeconfig string) (api, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return api{}, err
	}
	config.QPS = -1
	config.UserAgent = "kubectl-batchjob-bench"
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	client, err := kubernetes.NewForConfig(config)
	return api{client}, err
}

// requests reads the API server's own request counters.
func (a api) requests(ctx context.Context) (requestCounts, error) {
	text, err := a.CoreV1().RESTClient().Get().AbsPath("/metrics").SetHeader("Accept", "text/plain").Do(ctx).Raw()
	if err != nil {
		return nil, fmt.Errorf("reading the API server's metrics: %w", err)
	}
	return parseRequests(bytes.NewReader(text))
}

// watchFunc is the Watch method of a typed client.
type watchFunc func(context.Context, metav1.ListOptions) (watch.Interface, error)

// object is a watched object; its resourceVersion is where the next watch continues.
type object interface {
	runtime.Object
	GetResourceVersion() string
}

// follow calls do with every change after options.ResourceVersion until do returns true. The API server ends watches,
// particularly those of a busy client; the next watch then continues at the last change.
func follow[T object](ctx context.Context, from watchFunc, options metav1.ListOptions, do func(watch.EventType, T) (bool, error)) error {
	for {
		w, err := from(ctx, options)
		if err != nil {
			return err
		}
		done, err := drain(ctx, w, func(event watch.EventType, o T) (bool, error) {
			options.ResourceVersion = o.GetResourceVersion()
			return do(event, o)
		})
		if done || err != nil {
			return err
		}
	}
}

// drain reads a single watch until do returns true or the watch ends, which is no error.
func drain[T object](ctx context.Context, w watch.Interface, do func(watch.EventType, T) (bool, error)) (done bool, err error) {
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case event, open := <-w.ResultChan():
			if !open {
				return false, nil
			}
			o, ok := event.Object.(T)
			if !ok {
				return false, fmt.Errorf("watching: %w", apierrors.FromObject(event.Object))
			}
			if done, err := do(event.Type, o); done || err != nil {
				return done, err
			}
		}
	}
}

// complete creates the Job and waits until it is Complete. It watches from the moment of creation on, so the time
// consists almost entirely of the controller's work.
func (a api) complete(ctx context.Context, job *batchv1.Job) (*batchv1.Job, time.Duration, error) {
	jobs := a.BatchV1().Jobs(job.Namespace)
	begun := time.Now()
	job, err := jobs.Create(ctx, job, metav1.CreateOptions{})
	if err != nil {
		return nil, 0, err
	}
	options := metav1.ListOptions{FieldSelector: "metadata.name=" + job.Name, ResourceVersion: job.ResourceVersion}
	pace := newPace()
	err = follow(ctx, jobs.Watch, options, func(_ watch.EventType, job *batchv1.Job) (bool, error) {
		pace.progress("%s: %d of %d pods succeeded after %.0f s", job.Name, job.Status.Succeeded, ptr.Deref(job.Spec.Completions, 1), time.Since(begun).Seconds())
		return outcome(job)
	})
	if err != nil {
		return nil, 0, fmt.Errorf("waiting for Job %s to complete: %w", job.Name, err)
	}
	return job, time.Since(begun), nil
}

func podsOf(job *batchv1.Job) metav1.ListOptions {
	return metav1.ListOptions{LabelSelector: batchv1.ControllerUidLabel + "=" + string(job.UID)}
}

// remove deletes the Job and waits until its pods are gone, too.
func (a api) remove(ctx context.Context, job *batchv1.Job) error {
	background := metav1.DeletePropagationBackground
	err := a.BatchV1().Jobs(job.Namespace).Delete(ctx, job.Name, metav1.DeleteOptions{PropagationPolicy: &background})
	if err != nil {
		return err
	}
	if err := a.removePods(ctx, podsOf(job)); err != nil {
		return fmt.Errorf("removing the pods of Job %s: %w", job.Name, err)
	}
	return nil
}
