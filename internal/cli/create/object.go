package create

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/batchjob-dev/kubectl-batchjob/internal/apicall"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/manifest"
	"github.com/batchjob-dev/kubectl-batchjob/internal/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lint"
)

// createAll creates what can be created. problems are those of reading.
func (o *Options) createAll(ctx context.Context, objects []*manifest.Object, problems []error) error {
	for i, object := range objects {
		if bad := o.prepare(object); len(bad) > 0 {
			problems = append(problems, bad...)
			continue
		}
		created, err := o.send(ctx, object)
		if err == nil {
			err = o.show(created)
		}
		if err == nil {
			continue
		}
		problems = append(problems, o.locate(object, err)...)
		if !concernsObject(err) {
			if left := len(objects) - i - 1; left > 0 {
				problems = append(problems, cmdutil.NewUserError(cmdutil.KindOther, nil, fmt.Sprintf("%d more objects were not sent", left), ""))
			}
			break
		}
	}
	return errors.Join(problems...)
}

// prepare turns the manifest into what is sent.
func (o *Options) prepare(object *manifest.Object) []error {
	jobs := object.Jobs()
	if len(jobs) == 0 {
		return []error{notForCreate(object)}
	}
	metadata, _ := object.Content["metadata"].(map[string]any)
	if object.Name() == "" && metadata["generateName"] == nil {
		return []error{object.Errorf("metadata.name", "metadata has neither name nor generateName")}
	}
	problems := o.setUp(jobs)
	if err := o.checkNamespace(object); err != nil {
		problems = append(problems, err)
	}
	if o.dryRun == dryRunClient && *o.kube.Namespace != "" {
		metadata["namespace"] = *o.kube.Namespace
	}
	// The API server makes these itself.
	delete(object.Content, "status")
	delete(metadata, "creationTimestamp")
	if len(problems) == 0 && o.dryRun == dryRunClient {
		problems = o.wouldBeRejected(object, jobs)
	}
	return problems
}

// setUp moves the names of rules in each Job, and sets its managedBy.
func (o *Options) setUp(jobs []*manifest.Job) []error {
	var problems []error
	for _, job := range jobs {
		problems = append(problems, job.MoveNames()...)
		if o.managedBy == "" {
			continue
		}
		if err := job.SetManagedBy(o.managedBy, o.replaceManagedBy); err != nil {
			problems = append(problems, err)
		}
	}
	return problems
}

// notForCreate is the error of an object without a Job.
func notForCreate(object *manifest.Object) error {
	if cmdutil.IsBatch(object) {
		path, problem, fix := cmdutil.WhyNoJob(object)
		return object.Errorf(path, "%s; %s", problem, fix)
	}
	return object.Errorf("kind", "this command creates only Jobs, CronJobs and JobSets, not a %s of %s; use: kubectl create -f", object.Kind(), object.APIVersion())
}

// wouldBeRejected returns the errors that an API server would, so that nobody commits a manifest that none accepts.
func (o *Options) wouldBeRejected(object *manifest.Object, jobs []*manifest.Job) []error {
	var findings []lint.Finding
	for _, job := range jobs {
		findings = append(findings, lint.Check(cmdutil.LintInput(job))...)
	}
	var problems []error
	for _, f := range findings {
		problem := f.Message
		if f.Fix != "" {
			problem += "; " + f.Fix
		}
		if f.ID == "unknown-field" && o.validate != "" { // simulate has no such flag
			problem += ", or use --validate=ignore if your API server knows it"
		}
		switch {
		case !f.Rejected:
		case f.ID != "unknown-field" || o.fieldValidation == metav1.FieldValidationStrict:
			problems = append(problems, object.Errorf(f.Field, "the API server would reject this: %s", problem))
		case o.fieldValidation == metav1.FieldValidationWarn:
			fmt.Fprintln(o.ErrOut, "warning:", sanitize.Line(object.Errorf(f.Field, "%s", f.Message).Error()))
		}
	}
	return problems
}

// checkNamespace compares with -n, in kubectl's words.
func (o *Options) checkNamespace(object *manifest.Object) error {
	given, own := *o.kube.Namespace, object.Namespace()
	if given == "" || own == "" || given == own {
		return nil
	}
	return object.Errorf("metadata.namespace",
		"the namespace from the provided object %q does not match the namespace %q. You must pass '--namespace=%s' to perform this operation.", own, given, own)
}

func (o *Options) send(ctx context.Context, object *manifest.Object) (*unstructured.Unstructured, error) {
	content := &unstructured.Unstructured{Object: object.Content}
	if o.creator == nil {
		return content, ctx.Err()
	}
	return o.creator.create(ctx, content)
}

// show writes what was created: a line, or the object in the format of -o.
func (o *Options) show(object *unstructured.Unstructured) error {
	if o.printer != nil {
		return o.printer.PrintObj(object, o.Out)
	}
	name := object.GetName()
	if name == "" {
		name = object.GetGenerateName() + "<generated>"
	}
	line := strings.ToLower(object.GetKind()) + "." + object.GroupVersionKind().Group + "/" + sanitize.Line(name)
	if o.print.Format() != "name" {
		line += " created" + map[string]string{dryRunClient: " (dry run)", dryRunServer: " (server dry run)"}[o.dryRun]
	}
	_, err := fmt.Fprintln(o.Out, line)
	return err
}

// concernsObject reports whether an error is about the object that was sent, so that others may succeed.
func concernsObject(err error) bool {
	var answer apierrors.APIStatus
	return errors.As(err, &answer) && !apierrors.IsUnauthorized(err)
}

// An API server names the field in one of these ways; the first is Go's decoder, for a value of the wrong type.
var (
	wrongType    = regexp.MustCompile(`Go struct field \w+\.(\S+) of type`)
	unknownField = regexp.MustCompile(`unknown field "([^"]*)"`)
)

// fieldIn is the first field that a message names.
func fieldIn(message string) string {
	for _, pattern := range [...]*regexp.Regexp{wrongType, unknownField} {
		if found := pattern.FindStringSubmatch(message); found != nil {
			return found[1]
		}
	}
	return ""
}

// locate adds to an error of the API server the position in the manifest.
func (o *Options) locate(object *manifest.Object, err error) []error {
	var answer apierrors.APIStatus
	if !concernsObject(err) || !errors.As(err, &answer) {
		return []error{err}
	}
	if details := answer.Status().Details; apierrors.IsInvalid(err) && details != nil && len(details.Causes) > 0 {
		var all []error
		for _, cause := range details.Causes {
			all = append(all, cmdutil.NewUserError(cmdutil.KindServerFailed, err,
				fmt.Sprintf("%s: the API server rejected %s: %s", object.Position(cause.Field), cause.Field, cause.Message), ""))
		}
		return all
	}
	path := fieldIn(answer.Status().Message)
	what, hint := cmdutil.ExplainError(err).Error(), ""
	var known *cmdutil.UserError
	if errors.As(cmdutil.ExplainError(err), &known) {
		what, hint = known.What, known.Hint
	}
	return []error{cmdutil.NewUserError(cmdutil.KindOf(cmdutil.ExplainError(err)), err, object.Position(path).String()+": "+what, hint)}
}

// objectCreator creates Jobs, and what creates Jobs.
type objectCreator struct {
	client    dynamic.Interface
	namespace string // of objects that name none
	options   metav1.CreateOptions
}

func newObjectCreator(config *rest.Config, namespace string, options metav1.CreateOptions) (*objectCreator, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, cmdutil.ExplainConfigError(err)
	}
	return &objectCreator{client: client, namespace: namespace, options: options}, nil
}

func (c *objectCreator) create(ctx context.Context, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	kind := object.GroupVersionKind()
	resource := kind.GroupVersion().WithResource(strings.ToLower(kind.Kind) + "s")
	namespace := cmp.Or(object.GetNamespace(), c.namespace)
	created, err := c.client.Resource(resource).Namespace(namespace).Create(ctx, object, c.options)
	call := apicall.Call{Verb: "create", Group: resource.Group, Resource: resource.Resource, Namespace: namespace, Name: object.GetName()}
	return created, call.Wrap(err)
}

// PrepareOffline makes of the manifest what create would send without flags. No cluster is asked.
func PrepareOffline(object *manifest.Object) []error {
	o := Options{
		kube: cmdutil.NewKubeFlags(), managedBy: controller.DefaultManagedBy, replaceManagedBy: true, dryRun: dryRunClient,
		fieldValidation: metav1.FieldValidationStrict,
	}
	return o.prepare(object)
}
