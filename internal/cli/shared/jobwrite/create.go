package jobwrite

import (
	"context"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation"

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

// UnknownError is the error of a creation that got no response and whose Job was not found: the Job may still be created.
type UnknownError struct {
	error       // of the creation
	Look  error // of the look for the Job
}

func (e *UnknownError) Unwrap() error { return e.error }

// Patience makes CreateOnce repeat a request without a response until the result is known.
type Patience struct {
	// Linger returns the context of all requests, which outlives ctx: Ctrl-C does not cancel a request that was sent.
	Linger func(ctx context.Context) (context.Context, context.CancelFunc)
	// Timing paces the requests.
	Timing feed.Timing
}

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
// request either stores the Job or conflicts with the stored Job, whose ID shows who created it. Without patience, there is
// one request, which ctx cancels. The error is an *UnknownError if the Job may exist. If another Job has the name, CreateOnce
// returns that Job with the error.
func (c Client) CreateOnce(ctx context.Context, job *unstructured.Unstructured, patience *Patience) (*unstructured.Unstructured, error) {
	generated := job.GetName() == ""
	if generated {
		generateName(job)
	}
	requests, looks := ctx, context.WithoutCancel(ctx)
	if patience != nil {
		lingering, stop := patience.Linger(ctx)
		defer stop()
		requests, looks = lingering, lingering
	}
	var sent atomic.Bool // An earlier error, such as an unknown host, is final.
	requests, abort := context.WithCancel(httptrace.WithClientTrace(requests, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }}))
	defer abort()
	defer context.AfterFunc(ctx, func() {
		if !sent.Load() {
			abort()
		}
	})()
	var lost error // of a request without a response
	for pause := time.Duration(0); ; {
		created, err := c.Create(requests, job)
		exists, mayExist := apierrors.IsAlreadyExists(err), sent.Load() && kube.MayBeDone(err) && len(c.Options.DryRun) == 0
		if err == nil || !exists && !mayExist && lost == nil {
			return created, err
		}
		// A Job that exists may be ours even if no response was lost: client-go repeats a request if the response has Retry-After.
		found, getErr := c.look(looks, job.GetName())
		switch {
		case getErr == nil && IsSameRequest(found, job):
			return found, nil
		case getErr == nil && exists && generated:
			generateName(job)
			lost = nil
			continue
		case getErr == nil && (exists || patience == nil):
			return found, err
		case !mayExist && (lost == nil || getErr == nil || kube.IsNotFound(getErr)): // An earlier request's Job would have been found.
			return nil, err
		}
		if lost == nil || looks.Err() == nil {
			lost = err
		}
		if patience == nil {
			return nil, &UnknownError{lost, getErr}
		}
		pause = min(max(2*pause, patience.Timing.Retry.First), patience.Timing.Retry.Max)
		if patience.Timing.Pause(looks, pause, nil) != nil {
			return nil, &UnknownError{lost, getErr}
		}
	}
}

func (c Client) look(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	found, err := c.Objects.Get(ctx, name, metav1.GetOptions{})
	return found, c.call("get", name).Wrap(err)
}

// generateName sets a name as the API server generates it.
func generateName(job *unstructured.Unstructured) {
	base := job.GetGenerateName()
	job.SetName(base[:min(len(base), validation.DNS1123LabelMaxLength-generatedLength)] + rand.String(generatedLength))
}
