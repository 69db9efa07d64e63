//go:build unix

package main

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// fairness times small Jobs beside a huge Job of the same controller, to measure how much the huge Job delays unrelated
// Jobs (TRK-33, SCL-09). The small Jobs have no pods, as kwok's nodes are busy with the huge Job's pods all the time.
func (b *bench) fairness(ctx context.Context) ([]latency, error) {
	var list []latency
	for _, s := range []side{ours, builtIn} {
		beside, err := b.besideHuge(ctx, s)
		if err != nil {
			return nil, err
		}
		progress("Fairness: %d Jobs beside one of %d indexes, %s", len(beside), b.hugePods, s)
		list = append(list, beside...)
	}
	return list, nil
}

func (b *bench) besideHuge(ctx context.Context, s side) (list []latency, err error) {
	limited, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	huge, err := b.api.BatchV1().Jobs(namespace).Create(limited, b.jobs.job(s, shape{b.hugePods, true}), metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	if err := b.api.untilCounted(limited, huge, int32(b.hugePods/100)); err != nil {
		return nil, err
	}
	for range samples {
		l, err := b.latency(limited, s, shape{0, false})
		if err != nil {
			return nil, err
		}
		list = append(list, l)
	}
	now, err := b.api.BatchV1().Jobs(namespace).Get(limited, huge.Name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	switch done, err := outcome(now); {
	case err != nil:
		return nil, err
	case done:
		return nil, fmt.Errorf("the Job of %d indexes ended before the small ones did: choose more with --huge-pods", b.hugePods)
	}
	if err := b.api.untilCounted(limited, huge, int32(b.hugePods)); err != nil {
		return nil, err
	}
	return list, b.api.remove(ctx, huge)
}

// untilCounted waits until n pods of the Job have succeeded and are counted.
func (a api) untilCounted(ctx context.Context, job *batchv1.Job, n int32) error {
	options := metav1.ListOptions{FieldSelector: "metadata.name=" + job.Name, ResourceVersion: job.ResourceVersion}
	return follow(ctx, a.BatchV1().Jobs(job.Namespace).Watch, options, func(_ watch.EventType, job *batchv1.Job) (bool, error) {
		if _, err := outcome(job); err != nil {
			return false, err
		}
		return job.Status.Succeeded >= n, nil
	})
}
