package jobwrite

import (
	"context"
	"errors"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/interrupt"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
)

const (
	// lookTime is the time limit for each look for a Job whose creation got no response.
	lookTime = 10 * time.Second
	// generatedLength is the length of the random suffix of a generated name.
	generatedLength = 5
)

// UnknownError is the error of a creation whose Job may exist, or may still be created: a request got no response or an
// inconclusive one (5xx), and then the Job was not found, or looking for it failed. With a pace, it may also be that another
// Job was found, and lasting ended before the next request.
type UnknownError struct {
	error       // of the creation
	Look  error // of the look for the Job; nil if that found another Job
}

func (e *UnknownError) Unwrap() error { return e.error }

// Mark sets the ID of the request on a Job, by which CreateOnce recognizes the Job; "" for a new ID.
func Mark(job *unstructured.Unstructured, id string) {
	if id == "" {
		id = string(uuid.NewUUID())
	}
	annotations := job.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[retry.RequestAnnotation] = id
	job.SetAnnotations(annotations)
}

// RequestID returns the ID of the request that created the Job, or "".
func RequestID(job *unstructured.Unstructured) string {
	return job.GetAnnotations()[retry.RequestAnnotation]
}

// IsSameRequest reports whether one request has created both Jobs; false if they are not marked.
func IsSameRequest(a, b *unstructured.Unstructured) bool {
	return RequestID(a) != "" && RequestID(a) == RequestID(b)
}

// CreateOnce creates a marked Job exactly once, although responses may be lost: the Job gets a name before it is sent, so each
// request either stores the Job or conflicts with the stored Job, whose ID shows who created it. ctx cancels a request until it
// is sent, and lasting, which may outlive ctx, cancels it later. With pace, the request is repeated until the result is known or
// lasting ends. The error is an *UnknownError if the Job may exist. If another Job has the name, CreateOnce returns that Job
// with the error.
func (c Client) CreateOnce(
	ctx, lasting context.Context, job *unstructured.Unstructured, pace *feed.Timing,
) (*unstructured.Unstructured, error) {
	generated := job.GetName() == ""
	if generated {
		generateName(job)
	}
	looks := lasting
	if pace == nil { // The one look says what became of a canceled request.
		looks = context.WithoutCancel(lasting)
	}
	var sent atomic.Bool // An earlier error, such as an unknown host, is final.
	trace := httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }}
	requests, abort := context.WithCancel(httptrace.WithClientTrace(lasting, &trace))
	defer abort()
	defer context.AfterFunc(ctx, func() {
		if !sent.Load() {
			abort()
		}
	})()
	var lost *UnknownError // of a request without a response
	for pause := time.Duration(0); ; {
		stored, err := c.send(requests, looks, job, &sent, lost != nil)
		unknown, isUnknown := errors.AsType[*UnknownError](err)
		switch {
		case generated && stored != nil && apierrors.IsAlreadyExists(err):
			generateName(job)
			lost = nil
			continue
		case !isUnknown:
			return stored, err
		case pace == nil && stored != nil: // Another Job has the name.
			return stored, unknown.error
		}
		if lost == nil || looks.Err() == nil {
			lost = unknown
		}
		if pace == nil {
			return nil, lost
		}
		pause = min(max(2*pause, pace.Backoff.First), pace.Backoff.Max)
		if pace.Pause(looks, pause, nil) != nil {
			return nil, lost
		}
	}
}

// send creates the Job; lost is set if an earlier request got no response. Unless the response is conclusive, it looks for the
// Job: it returns our Job without an error, and another one with the error.
func (c Client) send(
	requests, looks context.Context, job *unstructured.Unstructured, sent *atomic.Bool, lost bool,
) (*unstructured.Unstructured, error) {
	created, err := c.Create(requests, job)
	mayExist := sent.Load() && kube.MayBeDone(err) && len(c.Options.DryRun) == 0
	// A Job that exists may be ours even if no response was lost: client-go repeats a request if the response has Retry-After.
	if err == nil || !mayExist && !lost && !apierrors.IsAlreadyExists(err) {
		return created, err
	}
	ctx, cancel := context.WithTimeout(looks, lookTime)
	defer cancel()
	interrupt.Hold(ctx)
	found, getErr := c.Objects.Get(ctx, job.GetName(), metav1.GetOptions{})
	switch {
	case getErr == nil && IsSameRequest(found, job):
		return found, nil
	case !mayExist && (!lost || getErr == nil || kube.IsNotFound(getErr)): // An earlier request's Job would have been found.
		return found, err
	}
	return found, &UnknownError{err, c.call("get", job.GetName()).Wrap(getErr)}
}

// generateName sets a name as the API server generates it.
func generateName(job *unstructured.Unstructured) {
	base := job.GetGenerateName()
	job.SetName(base[:min(len(base), validation.DNS1123LabelMaxLength-generatedLength)] + rand.String(generatedLength))
}
