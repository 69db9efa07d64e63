package manifests

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/manifest"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube/apicall"
)

// Client creates Jobs, objects that contain templates of Jobs, and objects of other kinds.
type Client struct {
	flags     *Flags
	client    dynamic.Interface
	kube      kube.Interface
	now       func() time.Time
	warned    *warnings
	namespace string // of objects that do not name one
	options   metav1.CreateOptions
	resources map[schema.GroupVersionKind]resource // cache for other kinds
}

// Client returns a client that creates the objects.
func (f *Flags) Client(dryRun bool, now func() time.Time) (*Client, error) {
	config, err := cmdutil.RESTConfig(f.kube, f.warnings)
	if err != nil {
		return nil, err
	}
	namespace, err := cmdutil.KubeNamespace(f.kube)
	if err != nil {
		return nil, err
	}
	warned := &warnings{}
	if f.warnings == io.Discard {
		config.WarningHandler = warned
	}
	options := metav1.CreateOptions{FieldManager: f.FieldManager, FieldValidation: f.fieldValidation}
	if dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, cmdutil.ExplainConfigError(err)
	}
	typed, err := kube.NewForConfig(config)
	if err != nil {
		return nil, cmdutil.ExplainConfigError(err)
	}
	return &Client{flags: f, client: client, kube: typed, now: now, warned: warned, namespace: namespace, options: options, resources: map[schema.GroupVersionKind]resource{}}, nil
}

// NewDryRun returns a client for Try, which stores nothing.
func NewDryRun(flags *cmdutil.KubeFlags, now func() time.Time) (*Client, error) {
	f := &Flags{kube: flags, warnings: io.Discard, FieldManager: "kubectl-batchjob", fieldValidation: metav1.FieldValidationStrict}
	return f.Client(true, now)
}

// Ping returns an error if the API server does not answer.
func (c *Client) Ping(ctx context.Context) error {
	return c.kube.CoreV1().RESTClient().Get().AbsPath("/version").Do(ctx).Error()
}

// warnings collects the warnings of an API server about one object.
type warnings []string

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(code int, _, text string) {
	const warning = 299
	if code == warning && text != "" {
		*w = append(*w, text)
	}
}

// Try asks the API server about an object, as Create would send it.
func (c *Client) Try(ctx context.Context, object *manifest.Object) (Verdict, error) {
	sent := object.Copy()
	for _, job := range sent.Jobs() {
		if len(job.MoveNames()) > 0 { // lint reports the problems
			job.RemoveNames()
		}
	}
	*c.warned = nil
	_, err := c.Create(ctx, &unstructured.Unstructured{Object: sent.Content})
	if ctx.Err() != nil {
		return Verdict{}, ctx.Err()
	}
	verdict, err := VerdictOf(err)
	verdict.Findings = append(verdict.Findings, warningsOf(*c.warned)...)
	return verdict, err
}

// Create creates an object, and returns it as stored.
func (c *Client) Create(ctx context.Context, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	writer, err := c.Writer(ctx, object)
	if err != nil {
		return nil, err
	}
	return writer.Create(ctx, object)
}

// ConcernsObject reports whether an error is about the object that was sent, so that other objects may succeed.
func ConcernsObject(err error) bool {
	var answer apierrors.APIStatus
	return errors.As(err, &answer) && !apierrors.IsUnauthorized(err) || meta.IsNoMatchError(err)
}

// Locate adds the position in the manifest to an error of the API server, and our words for its reasons.
func Locate(object *manifest.Object, err error) []error {
	if _, is := errors.AsType[*meta.NoKindMatchError](err); is {
		return []error{cmdutil.NewUserError(cmdutil.KindOther, err,
			fmt.Sprintf("%s: the cluster has no kind %s in %s", object.Position("kind"), object.Kind(), object.APIVersion()),
			"install its CustomResourceDefinition, or use another context")}
	}
	if !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
		return locateOther(object, err)
	}
	verdict, other := VerdictOf(err)
	if other != nil {
		return []error{err}
	}
	var all []error
	for _, f := range verdict.rejections(object) {
		what := f.Message
		if f.ID != serverRejects {
			what = "the API server rejects this: " + what
		}
		all = append(all, cmdutil.NewUserError(cmdutil.KindServerFailed, err, object.Position(f.Field).String()+": "+strings.Replace(what, "rejects it: ", "rejected "+cmp.Or(f.Field, "it")+": ", 1), f.Fix))
	}
	return all
}

// locateOther adds the position of the object to an error that is not about its fields.
func locateOther(object *manifest.Object, err error) []error {
	if !ConcernsObject(err) {
		return []error{err}
	}
	explained := cmdutil.ExplainError(err)
	what, hint := explained.Error(), ""
	if known, is := errors.AsType[*cmdutil.UserError](explained); is {
		what, hint = known.What, known.Hint
	}
	return []error{cmdutil.NewUserError(cmdutil.KindOf(explained), err, object.Position("").String()+": "+what, hint)}
}

// MayExist returns an error if the object may be stored although its creation failed, nil if it is not: the request was not
// sent, as another one before it failed, or it was rejected.
func MayExist(object *manifest.Object, err error) error {
	if apicall.Of(err).Verb != "create" || !kube.MayBeDone(err) {
		return nil
	}
	return cmdutil.NewUserError(cmdutil.KindOther, err, "the "+object.Kind()+" may have been created nevertheless",
		"look for it with: kubectl get "+strings.ToLower(object.Kind())+" "+object.Name())
}
