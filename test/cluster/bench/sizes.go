//go:build unix

package main

import (
	"context"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// The KEPs' limits, in bytes: the lists of uncounted pods, the lists of indexes, and a whole object in one request to
// etcd.
const (
	maxUncountedBytes = 20_000
	maxIndexBytes     = 600_000 // 0.572 Mi
	maxObjectBytes    = 3 << 19
	// maxRuleBytes and maxRules are the API server's limits for a successPolicy.
	maxRuleBytes = 64 << 10
	maxRules     = 20
)

// size is the size of an object, or of a part of it, in the API server's storage.
type size struct {
	What  string `json:"what"`
	Bytes int    `json:"bytes"`
	Limit int    `json:"limit"`
}

// objectSizes stores the largest possible statuses and returns the sizes of the Jobs. No controller reconciles these
// Jobs.
func (b *bench) objectSizes(ctx context.Context) ([]size, error) {
	worst, err := b.api.store(ctx, worstJob(b.jobs.job(floor, shape{worstIndexes, true}, atOnce(0))), worstStatus())
	if err != nil {
		return nil, err
	}
	rules, err := b.api.store(ctx, withRules(b.jobs.job(floor, shape{worstIndexes, true}, atOnce(0)), maxRules), batchv1.JobStatus{})
	if err != nil {
		return nil, err
	}
	status := worst.Status
	uncounted := status.UncountedTerminatedPods.Size()
	return []size{
		{fmt.Sprintf("uncounted lists of %d pods", len(status.UncountedTerminatedPods.Failed)), uncounted, maxUncountedBytes},
		{"indexes of 10^5, every second failed", len(status.CompletedIndexes) + len(*status.FailedIndexes), maxIndexBytes},
		{"a Job with both, and a success rule of 64 KiB", worst.Size(), maxObjectBytes},
		{fmt.Sprintf("a Job with %d success rules of 64 KiB", maxRules), rules.Size(), maxObjectBytes},
	}, nil
}

// store creates a Job, writes its status, and returns the stored Job.
func (a api) store(ctx context.Context, job *batchv1.Job, status batchv1.JobStatus) (*batchv1.Job, error) {
	jobs := a.BatchV1().Jobs(namespace)
	stored, err := jobs.Create(ctx, job, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	stored.Status = status
	if _, err := jobs.UpdateStatus(ctx, stored, metav1.UpdateOptions{}); err != nil {
		return nil, err
	}
	if stored, err = jobs.Get(ctx, job.Name, metav1.GetOptions{}); err != nil {
		return nil, err
	}
	return stored, a.remove(ctx, stored)
}

const worstIndexes = 100_000

func worstJob(job *batchv1.Job) *batchv1.Job {
	perIndex(1)(job)
	return withRules(job, 1)
}

// withRules adds n success policy rules of the maximum size to a Job.
func withRules(job *batchv1.Job, n int) *batchv1.Job {
	var list []string
	for i, length := int32(10_000), 0; length+6 <= maxRuleBytes; i, length = i+2, length+6 {
		list = append(list, fmt.Sprint(i))
	}
	policy := &batchv1.SuccessPolicy{}
	for range n {
		policy.Rules = append(policy.Rules, batchv1.SuccessPolicyRule{SucceededIndexes: ptr.To(strings.Join(list, ","))})
	}
	job.Spec.SuccessPolicy = policy
	return job
}

// worstStatus returns a status with lists of indexes that cannot be shortened to ranges: every second index has failed.
func worstStatus() batchv1.JobStatus {
	var completed, failed []int32
	for i := range int32(worstIndexes) {
		if i%2 == 0 {
			completed = append(completed, i)
		} else {
			failed = append(failed, i)
		}
	}
	uncounted := &batchv1.UncountedTerminatedPods{}
	for range reconcile.DefaultConfig().MaxUncounted {
		uncounted.Failed = append(uncounted.Failed, uuid.NewUUID())
	}
	now := metav1.Now()
	return batchv1.JobStatus{
		StartTime: &now, Succeeded: worstIndexes / 2, UncountedTerminatedPods: uncounted, Ready: ptr.To[int32](0),
		CompletedIndexes: indexset.Of(completed...).String(), FailedIndexes: ptr.To(indexset.Of(failed...).String()),
	}
}
