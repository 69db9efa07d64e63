// Package jobwrite has every write to a Job that verbs make: they create, suspend, resume, change and delete Jobs with its Client.
// A write to an existing Job has its UID as a precondition, so that another Job of the same name stays as it is. After a conflict,
// such as one about a quota, a write is repeated a few times: the API server decides anew by what the write tests. A write whose answer
// was lost is repeated once.
package jobwrite

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	clientretry "k8s.io/client-go/util/retry"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube/apicall"
)

// Client writes the Jobs of one namespace, or objects of another kind that are created beside them. Its errors name the request.
type Client struct {
	Objects dynamic.ResourceInterface
	Call    apicall.Call         // of the collection; each request sets Verb and Name
	Options metav1.CreateOptions // FieldManager also applies to patches

	patchDryRun []string
}

// DryRun returns a Client whose patches store nothing.
func (c Client) DryRun() Client {
	c.patchDryRun = []string{metav1.DryRunAll}
	return c
}

// New returns a Client for the Jobs of the set's namespace.
func New(jobs feed.JobSet, options metav1.CreateOptions) Client {
	return Client{Objects: jobs.Client, Call: jobs.Call("", ""), Options: options}
}

func (c Client) call(verb, name string) apicall.Call {
	c.Call.Verb, c.Call.Name = verb, name
	return c.Call
}

// Create sends an object, and returns it as stored.
func (c Client) Create(ctx context.Context, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	created, err := repeat(func() (*unstructured.Unstructured, error) { return c.Objects.Create(ctx, object, c.Options) })
	return created, c.call("create", object.GetName()).Wrap(err)
}

// SetSuspend suspends or resumes the Job with this UID.
func (c Client) SetSuspend(ctx context.Context, name string, uid types.UID, suspend bool) error {
	patch := fmt.Appendf(nil, `{"metadata":{"uid":%q},"spec":{"suspend":%t}}`, uid, suspend)
	_, err := c.Patch(ctx, name, types.MergePatchType, patch)
	return err
}

// Patch applies a patch, which has to test the UID, to the Job or to its subresource. It repeats one whose answer was lost; if
// that fails, for example because a stored JSON patch fails its own tests, the error is the first one.
func (c Client) Patch(
	ctx context.Context, name string, kind types.PatchType, patch []byte, subresource ...string,
) (*unstructured.Unstructured, error) {
	call := c.call("patch", name)
	call.Resource = strings.Join(append([]string{call.Resource}, subresource...), "/")
	options := metav1.PatchOptions{FieldManager: c.Options.FieldManager, DryRun: c.patchDryRun}
	send := func() (*unstructured.Unstructured, error) {
		return c.Objects.Patch(ctx, name, kind, patch, options, subresource...)
	}
	patched, err := repeat(send)
	if kube.MayBeDone(err) && ctx.Err() == nil {
		if again, failed := repeat(send); failed == nil {
			patched, err = again, nil
		}
	}
	return patched, call.Wrap(err)
}

// Get reads an object.
func (c Client) Get(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	object, err := c.Objects.Get(ctx, name, metav1.GetOptions{})
	return object, c.call("get", name).Wrap(err)
}

// Delete deletes the object with this UID and, unless version is "", this resourceVersion; its pods are deleted in the
// background. For another object of this name, it returns a conflict.
func (c Client) Delete(ctx context.Context, name string, uid types.UID, version string) error {
	preconditions := metav1.Preconditions{UID: &uid}
	if version != "" {
		preconditions.ResourceVersion = &version
	}
	return c.delete(ctx, name, preconditions, metav1.DeletePropagationBackground)
}

// DeleteWithPods deletes the Job with this UID, which then exists until its pods are gone.
func (c Client) DeleteWithPods(ctx context.Context, name string, uid types.UID) error {
	return c.delete(ctx, name, metav1.Preconditions{UID: &uid}, metav1.DeletePropagationForeground)
}

// DeleteWithoutPods deletes the Job with this UID, and leaves its pods without an owner.
func (c Client) DeleteWithoutPods(ctx context.Context, name string, uid types.UID) error {
	return c.delete(ctx, name, metav1.Preconditions{UID: &uid}, metav1.DeletePropagationOrphan)
}

// delete repeats a deletion whose answer was lost. Then, the object is gone if it is not found, or if another one has its name.
func (c Client) delete(ctx context.Context, name string, preconditions metav1.Preconditions, policy metav1.DeletionPropagation) error {
	options := metav1.DeleteOptions{Preconditions: &preconditions, PropagationPolicy: &policy}
	remove := func() error { return c.Objects.Delete(ctx, name, options) }
	if preconditions.ResourceVersion != nil { // A conflict has to be read by the caller.
		return c.call("delete", name).Wrap(remove())
	}
	_, err := repeat(func() (any, error) { return nil, remove() })
	if kube.MayBeDone(err) && ctx.Err() == nil {
		if err = remove(); apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
			return nil
		}
	}
	return c.call("delete", name).Wrap(err)
}

// repeat sends a request again after a conflict.
func repeat[T any](send func() (T, error)) (answer T, err error) {
	err = clientretry.RetryOnConflict(clientretry.DefaultRetry, func() error {
		answer, err = send()
		return err
	})
	return answer, err
}
