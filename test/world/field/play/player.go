package play

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/tenant"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

// PlayedLabel marks the namespaces whose pods are not assigned to nodes at admission: the player is their scheduler and
// kubelet.
const PlayedLabel = "field.batchjob.dev/played"

// patience is the time limit of a step.
const patience = 2 * time.Minute

// Player plays one case in a namespace.
type Player struct {
	Client  kubernetes.Interface
	Objects *Objects
	Hooks   *Hooks
	Kubelet *Kubelet
	// Node is the node of the pods that the player runs.
	Node      string
	Namespace string
	// Dir is the folder with the files of the case.
	Dir string
	// ManagedBy is spec.managedBy of the Jobs; "" for the built-in controller.
	ManagedBy string

	// pods has the names of each Job's pods, in order of creation.
	pods map[string][]string
	logs []recorded.Log
}

// Play creates the namespace and plays all steps.
func (p *Player) Play(ctx context.Context, play Play) error {
	labels := maps.Clone(play.Labels)
	if play.Pods == played {
		if labels == nil {
			labels = map[string]string{}
		}
		labels[PlayedLabel] = "true"
	}
	p.pods = map[string][]string{}
	if _, err := tenant.Namespace(ctx, p.Client, metav1.ObjectMeta{Name: p.Namespace, Labels: labels}); err != nil {
		return err
	}
	for i, s := range play.Steps {
		if err := p.step(ctx, s); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return p.serveLogs(ctx)
}

func (p *Player) step(ctx context.Context, s Step) error {
	switch {
	case s.Create != "":
		return p.create(ctx, s.Create)
	case s.Pod != nil:
		return p.report(ctx, *s.Pod)
	case s.Unschedulable != nil:
		return p.unschedulable(ctx, *s.Unschedulable)
	case s.Event != nil:
		return p.event(ctx, *s.Event)
	case s.Log != nil:
		return p.log(ctx, *s.Log)
	case s.Wait != nil:
		return sleep(ctx, s.Wait.Duration)
	case s.Until != nil:
		return p.until(ctx, *s.Until)
	case s.Patch != nil:
		return p.patch(ctx, *s.Patch)
	case s.Delete != "":
		return p.delete(ctx, s.Delete)
	case s.Orphan != "":
		return p.Objects.delete(ctx, p.Namespace, p.expand(s.Orphan, ""), metav1.DeletePropagationOrphan)
	case s.Evict != "":
		return p.evict(ctx, s.Evict)
	case s.Webhook != nil:
		return p.Hooks.add(ctx, p.Client, p.Namespace, *s.Webhook)
	case s.Refuse != nil:
		return p.Hooks.add(ctx, p.Client, p.Namespace, Webhook{Name: refusal, Denies: s.Refuse.Pods})
	}
	return errors.New("the step is empty")
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func (p *Player) create(ctx context.Context, file string) error {
	data, err := os.ReadFile(filepath.Join(p.Dir, file))
	if err != nil {
		return err
	}
	manifest, err := p.expandUIDs(ctx, p.expand(string(data), ""))
	if err != nil {
		return err
	}
	return p.Objects.Create(ctx, p.Namespace, manifest, p.ManagedBy)
}

// expand replaces the variables in a text.
func (p *Player) expand(text, pod string) string {
	return strings.NewReplacer("${NAMESPACE}", p.Namespace, "${POD}", pod).Replace(text)
}

var uidOf = regexp.MustCompile(`\$\{UID ([^}]+)\}`)

// expandUIDs replaces the variables for the UIDs of objects.
func (p *Player) expandUIDs(ctx context.Context, manifest string) (string, error) {
	for _, variable := range uidOf.FindAllStringSubmatch(manifest, -1) {
		object, err := p.Objects.get(ctx, p.Namespace, variable[1])
		if err != nil {
			return "", err
		}
		manifest = strings.ReplaceAll(manifest, variable[0], string(object.GetUID()))
	}
	return manifest, nil
}

// pod waits for a pod and returns it; the reference is pod/JOB or pod/JOB/2.
func (p *Player) pod(ctx context.Context, reference string) (*corev1.Pod, error) {
	var number int
	parts := strings.Split(reference, "/")
	switch {
	case len(parts) == 2 && parts[0] == "pod":
		number = 1
	case len(parts) == 3 && parts[0] == "pod":
		if _, err := fmt.Sscan(parts[2], &number); err != nil || number < 1 {
			return nil, fmt.Errorf("%s has no number", reference)
		}
	default:
		return nil, fmt.Errorf("%s is not pod/JOB or pod/JOB/NUMBER", reference)
	}
	job := parts[1]
	var found *corev1.Pod
	err := wait.PollUntilContextTimeout(ctx, 300*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		list, err := p.Client.CoreV1().Pods(p.Namespace).List(ctx, metav1.ListOptions{LabelSelector: batchv1.JobNameLabel})
		if err != nil {
			return false, err
		}
		list.Items = slices.DeleteFunc(list.Items, func(pod corev1.Pod) bool { return !isOf(pod.Labels[batchv1.JobNameLabel], job) })
		p.meet(job, list.Items)
		if len(p.pods[job]) < number {
			return false, nil
		}
		i := slices.IndexFunc(list.Items, func(pod corev1.Pod) bool { return pod.Name == p.pods[job][number-1] })
		if i < 0 {
			return false, fmt.Errorf("%s is gone", reference)
		}
		found = &list.Items[i]
		return true, nil
	})
	if err != nil {
		return nil, fmt.Errorf("waiting for %s: %w", reference, err)
	}
	return found, nil
}

// isOf reports whether a Job has this name; NAME-* stands for all Jobs of the CronJob NAME.
func isOf(job, name string) bool {
	prefix, all := strings.CutSuffix(name, "*")
	return job == name || all && strings.HasPrefix(job, prefix)
}

// meet appends the pods that are not in the list yet.
func (p *Player) meet(job string, pods []corev1.Pod) {
	slices.SortFunc(pods, func(a, b corev1.Pod) int {
		if c := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	for _, pod := range pods {
		if !slices.Contains(p.pods[job], pod.Name) {
			p.pods[job] = append(p.pods[job], pod.Name)
		}
	}
}

func (p *Player) delete(ctx context.Context, reference string) error {
	if !strings.HasPrefix(reference, "pod/") {
		return p.Objects.delete(ctx, p.Namespace, p.expand(reference, ""), metav1.DeletePropagationBackground)
	}
	pod, err := p.pod(ctx, reference)
	if err != nil {
		return err
	}
	return p.Client.CoreV1().Pods(p.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)})
}

func (p *Player) evict(ctx context.Context, reference string) error {
	pod, err := p.pod(ctx, reference)
	if err != nil {
		return err
	}
	return p.Client.CoreV1().Pods(p.Namespace).EvictV1(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: p.Namespace}})
}

func (p *Player) patch(ctx context.Context, patch Patch) error {
	reference, pod := p.expand(patch.Object, ""), ""
	if strings.HasPrefix(reference, "pod/") {
		found, err := p.pod(ctx, reference)
		if err != nil {
			return err
		}
		pod, reference = found.Name, "pod/"+found.Name
	}
	patch.Object = reference
	return p.Objects.patch(ctx, p.Namespace, patch, func(text string) string { return p.expand(text, pod) })
}

func (p *Player) until(ctx context.Context, until Until) error {
	until.About = p.expand(until.About, "")
	kind, name, _ := strings.Cut(until.About, "/")
	err := wait.PollUntilContextTimeout(ctx, 500*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		if until.Event != "" {
			return p.hasEvent(ctx, kind, name, until.Event)
		}
		object, err := p.Objects.get(ctx, p.Namespace, until.About)
		if apierrors.IsNotFound(err) {
			return until.Deleted, nil
		}
		if err != nil || until.Deleted {
			return false, err
		}
		conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
		return slices.ContainsFunc(conditions, func(c any) bool {
			fields, _ := c.(map[string]any)
			return fields["type"] == until.Condition && fields["status"] == string(corev1.ConditionTrue)
		}), nil
	})
	if err != nil {
		return fmt.Errorf("waiting for %s %s%s: %w", until.About, until.Condition, until.Event, err)
	}
	return nil
}

func (p *Player) hasEvent(ctx context.Context, kind, name, reason string) (bool, error) {
	list, err := p.Client.CoreV1().Events(p.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(list.Items, func(e corev1.Event) bool {
		return strings.EqualFold(e.InvolvedObject.Kind, kind) && (name == "" || e.InvolvedObject.Name == name) && e.Reason == reason
	}), nil
}
