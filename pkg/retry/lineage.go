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

// The labels and annotations that link a retry to its family.
const (
	// OfLabel is the name of the first Job of the family, as returned by LabelOf. If the name is too long for a label,
	// an annotation with the same key has all of it.
	OfLabel = "batchjob.dev/retry-of"
	// UIDAnnotation is the UID of the first Job: another Job may have replaced it under the same name.
	UIDAnnotation = "batchjob.dev/retry-of-uid"
	// AttemptAnnotation is the number of the retry in its family, from 1.
	AttemptAnnotation = "batchjob.dev/retry-attempt"
	// IndexesAnnotation lists the indexes that the retry runs, in the format of status.completedIndexes, if it does not
	// run all. Of the indexes that existed at its creation, our controller runs no others, whatever the status says.
	// The annotation is missing if it would be too long.
	IndexesAnnotation = reconcile.RetryIndexesAnnotation
	// CompletionsAnnotation, set with it, is spec.completions at the creation: indexes that an elastic Job gains later
	// run as well.
	CompletionsAnnotation = reconcile.RetryCompletionsAnnotation
	// LeftOutAnnotation lists the indexes that count as completed in the retry, but never completed.
	LeftOutAnnotation = "batchjob.dev/retry-left-out"
	// PendingAnnotation marks a retry whose status is not written yet. It is removed when the retry is resumed.
	PendingAnnotation = "batchjob.dev/retry-pending"
	// RequestAnnotation is an ID of the request that created the Job, so that the client finds the Job if it got no
	// response.
	RequestAnnotation = "batchjob.dev/request"
)

// maxListed is the maximum length of a list of indexes in an annotation; all annotations of an object together are
// limited to 256 KiB.
const maxListed = 64 << 10

// maxName is the maximum length of the name of a Job with generated labels: it is a label value of its pods.
const maxName = validation.LabelValueMaxLength

// nameOf returns the name of the n-th retry of the Job root. A long name is shortened so that the index of each pod still fits
// behind it. With hashed, the name always contains a hash of root and uid.
func nameOf(root, uid string, n, completions int32, hashed bool) string {
	suffix := fmt.Sprintf("-retry-%d", n)
	room := maxName - len(suffix) - len(strconv.Itoa(int(completions))) - 1
	if hashed || len(root) > room {
		root = withHash(root, room, root+"/"+uid)
	}
	return root + suffix
}

// LabelOf returns the value of OfLabel for a first Job of this name. Jobs with a manual selector may have names that
// are too long for a label.
func LabelOf(root string) string {
	if len(root) <= maxName {
		return root
	}
	return withHash(root, maxName, root)
}

// withHash returns a name of at most room bytes that ends with a hash of identity, so that names with a common beginning
// remain different.
func withHash(name string, room int, identity string) string {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(identity)) // It never fails.
	end := fmt.Sprintf("-%08x", hash.Sum32())
	return strings.TrimRight(name[:min(len(name), room-len(end))], "-.") + end
}

// RootOf returns the name of the first Job of the Job's family.
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

// AttemptOf returns the number of the retry in its family; 0 for the first Job.
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

// IsPending reports whether the creation of the retry was interrupted: it is suspended, and its status is not written
// yet.
func IsPending(job *batchv1.Job) bool {
	_, pending := job.Annotations[PendingAnnotation]
	return pending
}
