package manifests

import (
	"context"
	"errors"
	"fmt"
	"regexp"
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
)

// Client creates Jobs, objects that contain templates of Jobs, and objects of other kinds.
type Client struct {
	flags     *Flags
	client    dynamic.Interface
	kube      kube.Interface
	now       func() time.Time
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
	return &Client{flags: f, client: client, kube: typed, now: now, namespace: namespace, options: options, resources: map[schema.GroupVersionKind]resource{}}, nil
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

// An API server names the field in one of these ways; the first is from Go's decoder, for a value of the wrong type.
var (
	wrongType    = regexp.MustCompile(`Go struct field \w+\.(\S+) of type`)
	unknownField = regexp.MustCompile(`unknown field "([^"]*)"`)
)

// Locate adds the position in the manifest to an error of the API server.
func Locate(object *manifest.Object, err error) []error {
	if _, is := errors.AsType[*meta.NoKindMatchError](err); is {
		return []error{cmdutil.NewUserError(cmdutil.KindOther, err,
			fmt.Sprintf("%s: the cluster has no kind %s in %s", object.Position("kind"), object.Kind(), object.APIVersion()),
			"install its CustomResourceDefinition, or use another context")}
	}
	var answer apierrors.APIStatus
	if !ConcernsObject(err) || !errors.As(err, &answer) {
		return []error{err}
	}
	status := answer.Status()
	if apierrors.IsInvalid(err) && status.Details != nil && len(status.Details.Causes) > 0 {
		var all []error
		for _, cause := range status.Details.Causes {
			all = append(all, cmdutil.NewUserError(cmdutil.KindServerFailed, err,
				fmt.Sprintf("%s: the API server rejected %s: %s", object.Position(cause.Field), cause.Field, cause.Message), ""))
		}
		return all
	}
	path := ""
	for _, pattern := range [...]*regexp.Regexp{wrongType, unknownField} {
		if found := pattern.FindStringSubmatch(status.Message); found != nil {
			path = found[1]
			break
		}
	}
	explained := cmdutil.ExplainError(err)
	what, hint := explained.Error(), ""
	if known, is := errors.AsType[*cmdutil.UserError](explained); is {
		what, hint = known.What, known.Hint
	}
	return []error{cmdutil.NewUserError(cmdutil.KindOf(explained), err, object.Position(path).String()+": "+what, hint)}
}

// MayExist returns an error if the object may be stored although its creation failed, nil if it is not.
func MayExist(object *manifest.Object, err error) error {
	if !kube.MayBeDone(err) || errors.Is(err, context.Canceled) || meta.IsNoMatchError(err) {
		return nil
	}
	return cmdutil.NewUserError(cmdutil.KindOther, err, "the "+object.Kind()+" may have been created nevertheless",
		"look for it with: kubectl get "+strings.ToLower(object.Kind())+" "+object.Name())
}
