package facts

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Indexed reports whether completionMode is Indexed.
func (in *Facts) Indexed() bool { return jobspec.IsIndexed(in.Spec) }

// QueueEnds reports whether no more pods are created because a pod has succeeded: the Job is a work queue, without completions.
func (in *Facts) QueueEnds() bool {
	return in.Spec.Completions == nil && !in.Decision.Decided() && (in.Job.Status.Succeeded > 0 ||
		slices.ContainsFunc(in.Pods, func(p *input.Pod) bool { return p.Phase == corev1.PodSucceeded }))
}

// PerIndex reports whether the indexes have a backoffLimit of their own.
func (in *Facts) PerIndex() bool { return in.Indexed() && in.Spec.BackoffLimitPerIndex != nil }

// Finished reports whether the Job is complete or failed.
func (in *Facts) Finished() bool { return reconcile.IsFinished(in.Job) }

// RestartsCount reports whether restarts of containers count towards the backoffLimit (JOB-16).
func (in *Facts) RestartsCount() bool {
	return in.Spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure
}

// AllowedAttempts returns how many pods an index may have: backoffLimitPerIndex+1, plus its ignored failures.
func (in *Facts) AllowedAttempts(ignored int32) int32 {
	return AddSaturating(AddSaturating(ptr.Deref(in.Spec.BackoffLimitPerIndex, 0), 1), ignored)
}

// AddSaturating adds without overflow: a tampered annotation may hold a huge count.
func AddSaturating(a, b int32) int32 { return int32(min(int64(a)+int64(b), 1<<31-1)) }

// ManagedBy returns the controller that should run the Job, "" for the built-in one.
func (in *Facts) ManagedBy() string {
	if name := ptr.Deref(in.Spec.ManagedBy, ""); name != explain.BuiltInManagedBy {
		return name
	}
	return ""
}

// SchedulingDone reports whether the Job's controller implements spec.scheduling. Our controller may replace the built-in
// one; it writes an event then.
func (in *Facts) SchedulingDone() bool {
	return in.ManagedBy() == "" && in.LastJobEvent(reconcile.ReasonSchedulingNotSupported) == nil
}

// ManagingOwner returns the owner of the Job if the owner may suspend, resume and rerun it, else nil. A CronJob does not.
func (in *Facts) ManagingOwner() *explain.Owner {
	if o := OwnerOf(in.Job); o != nil && o.Kind != "CronJob" {
		return o
	}
	return nil
}

// OwnerOf returns the owner of a Job or CronJob, see input.OwnerOf, or nil.
func OwnerOf(object metav1.Object) *explain.Owner {
	owner := input.OwnerOf(object)
	if owner == nil {
		return nil
	}
	o := &explain.Owner{APIVersion: owner.APIVersion, Kind: owner.Kind, Name: owner.Name, Uncontrolled: !ptr.Deref(owner.Controller, false)}
	if t := explain.CreatorOf(object.GetLabels(), o); t != nil {
		o.Source, o.Settings = t.Source, t.Settings
	}
	return o
}

// TemplateContainer returns the named container of the Job's template, or nil.
func (in *Facts) TemplateContainer(name string) *corev1.Container {
	isNamed := func(c *corev1.Container) bool { return c.Name == name }
	return cmp.Or(lists.First(in.Spec.Template.Spec.Containers, isNamed), lists.First(in.Spec.Template.Spec.InitContainers, isNamed))
}

// HasReadOnlyRoot reports whether a container of the Job's template has readOnlyRootFilesystem.
func (in *Facts) HasReadOnlyRoot(name string) bool {
	c := in.TemplateContainer(name)
	return c != nil && c.SecurityContext != nil && ptr.Deref(c.SecurityContext.ReadOnlyRootFilesystem, false)
}

// User returns runAsUser of a container in the Job's template, or "" if it is not set.
func User(in *Facts, name string) string {
	var user *int64
	if pod := in.Spec.Template.Spec.SecurityContext; pod != nil {
		user = pod.RunAsUser
	}
	if c := in.TemplateContainer(name); c != nil && c.SecurityContext != nil {
		user = cmp.Or(c.SecurityContext.RunAsUser, user)
	}
	if user == nil {
		return ""
	}
	return strconv.FormatInt(*user, 10)
}

// FSGroup returns fsGroup of the Job's template, or "" if it is not set.
func FSGroup(in *Facts) string {
	if pod := in.Spec.Template.Spec.SecurityContext; pod != nil && pod.FSGroup != nil {
		return strconv.FormatInt(*pod.FSGroup, 10)
	}
	return ""
}

// Account returns the ServiceAccount of the Job's pods.
func Account(in *Facts) string { return account(&in.Spec.Template.Spec) }

func account(of *corev1.PodSpec) string { return cmp.Or(of.ServiceAccountName, "default") }

// WhereOf returns what the Job's template has about pods that do not start, and about the image of a container.
func WhereOf(in *Facts, image string) meaning.Where {
	spec := &in.Spec.Template.Spec
	w := meaning.Where{Image: image, Account: Account(in), Architecture: spec.NodeSelector[corev1.LabelArchStable], RuntimeClass: ptr.Deref(spec.RuntimeClassName, "")}
	for _, secret := range spec.ImagePullSecrets {
		w.Secrets = wording.Join(" and ", w.Secrets, "Secret "+secret.Name)
	}
	var lowest resource.Quantity
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		if limit := c.Resources.Limits.Memory(); !limit.IsZero() && (lowest.IsZero() || limit.Cmp(lowest) < 0) {
			lowest, w.Memory = *limit, limit.String()+" of container "+c.Name
		}
	}
	for i := range spec.Volumes {
		if csi := spec.Volumes[i].CSI; csi != nil {
			w.Store = cmp.Or(csi.VolumeAttributes["secretProviderClass"], w.Store)
		}
	}
	return w
}

// HostsOf returns how the pods of the Job are named in DNS, empty if it is not Indexed.
func HostsOf(in *Facts) *meaning.Hosts {
	if !in.Indexed() {
		return &meaning.Hosts{}
	}
	h := &meaning.Hosts{Job: in.Job.Name, Subdomain: in.Spec.Template.Spec.Subdomain}
	if o := OwnerOf(in.Job); o != nil && o.Kind == "JobSet" {
		h.Set = o.Name
	}
	return h
}

// NoToken reports whether the pod template keeps the token of its ServiceAccount out of the pods.
func NoToken(in *Facts) bool { return noToken(&in.Spec.Template.Spec) }

func noToken(of *corev1.PodSpec) bool { return !ptr.Deref(of.AutomountServiceAccountToken, true) }

// TemplateOf returns what advice on refused pods depends on.
func TemplateOf(of *corev1.PodTemplateSpec) meaning.PodTemplate {
	spec := &of.Spec
	t := meaning.PodTemplate{Account: account(spec), NoToken: noToken(spec), Annotations: slices.Sorted(maps.Keys(of.Annotations))}
	for i, c := range spec.InitContainers {
		t.Containers = append(t.Containers, meaning.PodPart{Name: c.Name, Image: c.Image, Path: fmt.Sprintf("initContainers/%d", i)})
	}
	for i, c := range spec.Containers {
		t.Containers = append(t.Containers, meaning.PodPart{Name: c.Name, Image: c.Image, Path: fmt.Sprintf("containers/%d", i)})
	}
	return t
}

// RefusalIn returns why the API server refused a pod of the Job, according to an event.
func RefusalIn(in *Facts, e *input.Event) *meaning.Refusal {
	why := meaning.OfRefusal(e.Message).Of(Account(in))
	why.Template = TemplateOf(&in.Spec.Template)
	hasContainer := func(name string) bool { return !in.IsInjected(name) }
	why.NoteInjected(hasContainer, func(path string) bool { return HasField(&in.Spec.Template, path) })
	return why
}

// UsesNodeDNS reports whether the pods use the DNS of their node, not that of the cluster.
func (in *Facts) UsesNodeDNS() bool {
	spec := &in.Spec.Template.Spec
	return spec.DNSPolicy == corev1.DNSDefault || spec.HostNetwork && spec.DNSPolicy != corev1.DNSClusterFirstWithHostNet && spec.DNSPolicy != corev1.DNSNone
}

// Secrets returns the names of the Secrets that a container of the Job's template reads, in its environment or from volumes.
func (in *Facts) Secrets(name string) (names []string) {
	c := in.TemplateContainer(name)
	if c == nil {
		return nil
	}
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for i := range c.Env {
		if from := c.Env[i].ValueFrom; from != nil && from.SecretKeyRef != nil {
			add(from.SecretKeyRef.Name)
		}
	}
	for i := range c.EnvFrom {
		if from := c.EnvFrom[i].SecretRef; from != nil {
			add(from.Name)
		}
	}
	for i := range in.Spec.Template.Spec.Volumes {
		v := &in.Spec.Template.Spec.Volumes[i]
		if !slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == v.Name }) {
			continue
		}
		if v.Secret != nil {
			add(v.Secret.SecretName)
		}
		for j := range ptr.Deref(v.Projected, corev1.ProjectedVolumeSource{}).Sources {
			if from := v.Projected.Sources[j].Secret; from != nil {
				add(from.Name)
			}
		}
	}
	return names
}

// Variables returns the environment variables of a container of the Job's template (env).
func Variables(in *Facts, name string) (all []meaning.Variable) {
	c := in.TemplateContainer(name)
	if c == nil {
		return nil
	}
	for i := range c.Env {
		v := meaning.Variable{Name: c.Env[i].Name, Value: c.Env[i].Value}
		switch from := c.Env[i].ValueFrom; {
		case from == nil:
		case from.SecretKeyRef != nil:
			v.From = fmt.Sprintf("key %s of Secret %s", from.SecretKeyRef.Key, from.SecretKeyRef.Name)
		case from.ConfigMapKeyRef != nil:
			v.From = fmt.Sprintf("key %s of ConfigMap %s", from.ConfigMapKeyRef.Key, from.ConfigMapKeyRef.Name)
		default:
			v.From = "a field of the pod"
		}
		all = append(all, v)
	}
	return all
}

// Arguments returns the command and args of a container of the Job's template.
func Arguments(in *Facts, name string) []string {
	if c := in.TemplateContainer(name); c != nil {
		return slices.Concat(c.Command, c.Args)
	}
	return nil
}

// EnvSources returns the ConfigMaps and Secrets that a container of the Job's template has its environment from (envFrom).
func EnvSources(in *Facts, name string) (all []string) {
	c := in.TemplateContainer(name)
	if c == nil {
		return nil
	}
	for i := range c.EnvFrom {
		if from := c.EnvFrom[i].ConfigMapRef; from != nil {
			all = append(all, "ConfigMap "+from.Name)
		}
		if from := c.EnvFrom[i].SecretRef; from != nil {
			all = append(all, "Secret "+from.Name)
		}
	}
	return all
}

// Image returns the image of a pod's container, or else of the container in the Job's template.
func (in *Facts) Image(c *input.Container) string {
	if of := in.TemplateContainer(c.Name); c.Image == "" && of != nil {
		return of.Image
	}
	return c.Image
}

// HasSeveralContainers reports whether a command about a pod has to name a container.
func (in *Facts) HasSeveralContainers() bool {
	return len(in.Spec.Template.Spec.Containers)+len(in.Spec.Template.Spec.InitContainers) > 1
}

// StatusRunning is the word for a Job whose conditions decide no outcome.
const StatusRunning = "Running"

// StatusOf returns the word of kubectl's printer for the state of a Job, with the same precedence, and the condition behind
// it, or nil.
func StatusOf(job *batchv1.Job) (string, *batchv1.JobCondition) {
	for _, t := range []batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobFailed} {
		if c := reconcile.TrueCondition(job, t); c != nil {
			return string(t), c
		}
	}
	if job.DeletionTimestamp != nil {
		return "Terminating", nil
	}
	for _, t := range []batchv1.JobConditionType{batchv1.JobSuspended, batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet} {
		if c := reconcile.TrueCondition(job, t); c != nil {
			return string(t), c
		}
	}
	return StatusRunning, nil
}

// FinishedAt returns when the Job became complete or failed, nil while it is neither. A failed Job has no completionTime:
// it finished at the transition of Failed.
func FinishedAt(job *batchv1.Job) *metav1.Time {
	if t := KnownTime(job.Status.CompletionTime); t != nil {
		return t
	}
	if failed := reconcile.TrueCondition(job, batchv1.JobFailed); failed != nil {
		return KnownTime(&failed.LastTransitionTime)
	}
	return nil
}

// KnownTime returns nil for the zero time, which the API accepts.
func KnownTime(t *metav1.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return t
}

// Slack is the time after which an ended pod should have been recorded: the built-in controller batches pods for a second,
// and takes seconds when it is busy.
const Slack = 30 * time.Second

// IsOverdue reports whether a pod ended a while ago and still has the tracking finalizer.
func (in *Facts) IsOverdue(p *input.Pod) bool {
	return p.Finalizer && !p.FinishedAt.IsZero() && in.Now.Sub(p.FinishedAt) >= Slack
}

// LastStatusWrite returns the manager that wrote the status of the Job last, and when; nil if it is unknown.
func LastStatusWrite(job *batchv1.Job) (string, *metav1.Time) {
	var last *metav1.ManagedFieldsEntry
	for i := range job.ManagedFields {
		f := &job.ManagedFields[i]
		if f.Subresource == "status" && !f.Time.IsZero() && (last == nil || last.Time.Before(f.Time)) {
			last = f
		}
	}
	if last == nil {
		return "", nil
	}
	return last.Manager, last.Time
}

// SuspendedBy returns the field manager that last set spec.suspend of a Job or CronJob, and when it last wrote the spec; "" if
// it is unknown.
func SuspendedBy(object metav1.Object) (manager string, last *metav1.Time) {
	fields := object.GetManagedFields()
	for i := range fields {
		f := &fields[i]
		if f.FieldsV1 == nil || f.Subresource != "" || !strings.Contains(f.FieldsV1.GetRawString(), `"f:suspend"`) {
			continue
		}
		if last == nil || f.Time != nil && last.Before(f.Time) {
			manager, last = f.Manager, f.Time
		}
	}
	return manager, last
}
