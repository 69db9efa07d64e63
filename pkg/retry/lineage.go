package retry

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// How a retry is tied to its family.
const (
	// OfLabel has the name of the first Job of the family, as LabelOf returns it. If it is too long for a label, an annotation
	// of this name has all of it.
	OfLabel = "batchjob.dev/retry-of"
	// UIDAnnotation has its UID: a Job of the same name may have replaced it.
	UIDAnnotation = "batchjob.dev/retry-of-uid"
	// AttemptAnnotation counts the retries of a family from 1.
	AttemptAnnotation = "batchjob.dev/retry-attempt"
	// IndexesAnnotation has the indexes that the retry runs, in the format of status.completedIndexes, if it does not run all.
	// Of those that it had when it was made, our controller runs no others, whatever the status says. It is missing if it
	// would be too long.
	IndexesAnnotation = reconcile.RetryIndexesAnnotation
	// CompletionsAnnotation, beside it, has spec.completions of that time: indexes that an elastic Job gains run as well.
	CompletionsAnnotation = reconcile.RetryCompletionsAnnotation
	// LeftOutAnnotation has the indexes that count as completed in the retry, and never completed.
	LeftOutAnnotation = "batchjob.dev/retry-left-out"
	// PendingAnnotation marks a retry whose status is not written yet. It is removed when the retry is resumed.
	PendingAnnotation = "batchjob.dev/retry-pending"
	// RequestAnnotation has an ID of the request that created the Job, so that its sender finds it if there was no answer.
	RequestAnnotation = "batchjob.dev/request"
)

// maxListed is how long a list of indexes in an annotation may be; all annotations of an object
// together are limited to 256 KiB.
const maxListed = 64 << 10

// maxName is the longest name of a Job with generated labels: it is the value of a label of its pods.
const maxName = validation.LabelValueMaxLength

// nameOf returns the name of the n-th retry of the Job root. A long name is shortened so that the index of each pod
// still fits behind it.
func nameOf(root, uid string, n, completions int32) string {
	suffix, room := suffixOf(n, completions)
	return shorten(root, room, root+"/"+uid) + suffix
}

// hashedNameOf returns a name that has a hash of the Job root, even if it is short.
func hashedNameOf(root, uid string, n, completions int32) string {
	suffix, room := suffixOf(n, completions)
	return withHash(root, room, root+"/"+uid) + suffix
}

// suffixOf returns the end of a retry's name, and how long the rest may be.
func suffixOf(n, completions int32) (suffix string, room int) {
	suffix = fmt.Sprintf("-retry-%d", n)
	return suffix, maxName - len(suffix) - len(strconv.Itoa(int(completions))) - 1
}

// LabelOf returns the value of OfLabel for a first Job of this name. Jobs with a manual selector may have longer names than a
// label holds.
func LabelOf(root string) string { return shorten(root, maxName, root) }

// shorten returns a name that has room. If it is cut, it ends with a hash of identity, so that names with a common beginning
// stay different.
func shorten(name string, room int, identity string) string {
	if len(name) <= room {
		return name
	}
	return withHash(name, room, identity)
}

func withHash(name string, room int, identity string) string {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(identity)) // It never fails.
	end := fmt.Sprintf("-%08x", hash.Sum32())
	return strings.TrimRight(name[:min(len(name), room-len(end))], "-.") + end
}

// RootOf returns the name of the first Job of the family that the Job belongs to.
func RootOf(job *batchv1.Job) string {
	label := job.Labels[OfLabel]
	if label == "" {
		return job.Name
	}
	if whole := job.Annotations[OfLabel]; LabelOf(whole) == label {
		return whole
	}
	return label
}

// AttemptOf returns which retry of its family the Job is; 0 for the first Job.
func AttemptOf(job *batchv1.Job) int32 {
	if job.Labels[OfLabel] == "" {
		return 0
	}
	n, err := strconv.ParseInt(job.Annotations[AttemptAnnotation], 10, 32)
	if err != nil || n < 1 {
		return 1
	}
	return int32(n)
}

// rootUID returns the UID of the first Job of the family.
func rootUID(job *batchv1.Job) string {
	if job.Labels[OfLabel] == "" {
		return string(job.UID)
	}
	return job.Annotations[UIDAnnotation]
}

// IsPending reports whether making the retry was interrupted: it is suspended, and its status is not written yet.
func IsPending(job *batchv1.Job) bool {
	_, pending := job.Annotations[PendingAnnotation]
	return pending
}
