package fidelity

import (
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/cluster"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// player makes calls to a server.
type player struct {
	server
	// prefix makes the names of a sequence unique.
	prefix  string
	objects map[string]*object
	// labels maps values that differ between servers (UIDs and generated names) to labels.
	labels map[string]string
	// readsAlways makes the player read an object after each call, even if the answer contains it.
	readsAlways bool
}

// object is a Job or pod with a label such as job0 or pod2, or several of that name, one after the other.
type object struct {
	label string
	// name is the object's name on the server.
	name string
	// job or pod is set as last read; both are nil if the object does not exist.
	job *batchv1.Job
	pod *corev1.Pod
	// uids and versions are the object's previous UIDs and resourceVersions.
	uids     []types.UID
	versions []string
}

func newPlayer(s server, prefix string) *player {
	return &player{server: s, prefix: prefix, objects: map[string]*object{}, labels: map[string]string{}}
}

func (p *player) object(label string) *object {
	if p.objects[label] == nil {
		p.objects[label] = &object{label: label, name: p.prefix + label}
	}
	return p.objects[label]
}

// meta returns the metadata of the object as last read, or nil.
func (o *object) meta() *metav1.ObjectMeta {
	switch {
	case o.job != nil:
		return &o.job.ObjectMeta
	case o.pod != nil:
		return &o.pod.ObjectMeta
	}
	return nil
}

// stored returns the object as last read, or nil.
func (o *object) stored() metav1.Object {
	switch {
	case o.job != nil:
		return o.job
	case o.pod != nil:
		return o.pod
	}
	return nil
}

// uid returns the UID of the object, or the last UID under this name.
func (o *object) uid() types.UID {
	if m := o.meta(); m != nil {
		return m.UID
	}
	if len(o.uids) > 0 {
		return o.uids[len(o.uids)-1]
	}
	return types.UID("none-" + o.label)
}

// pick returns the UID or resourceVersion that an argument names: the current value or the previous one.
func pick[T ~string](which string, now T, before []T) T {
	if which == "now" {
		return now
	}
	if len(before) > 0 {
		return before[len(before)-1]
	}
	return "999999999"
}

// play makes a call, and returns the answer and the object after the call.
func (p *player) play(c call) (answer string, state any, err error) {
	o := p.object(c.object)
	stored, err := verbs[c.verb](p, o, c)
	answer = answerOf(err)
	switch {
	case p.readsAlways, err == nil && (stored == nil || stored.GetDeletionTimestamp() != nil):
		state, err = p.read(o)
	case err == nil:
		state, err = p.see(o, stored)
	default: // The end of the sequence shows whether the object is really unchanged.
		state, err = p.see(o, o.stored())
	}
	return answer, state, err
}

// stored returns the object of an answer, or nil.
func stored[T metav1.Object](object T, err error) (metav1.Object, error) {
	if err != nil {
		return nil, err
	}
	return object, nil
}

// read reads an object from the server, and returns its compared fields.
func (p *player) read(o *object) (any, error) {
	var now metav1.Object
	var err error
	if strings.HasPrefix(o.label, "job") {
		now, err = stored(p.job(o.name))
	} else {
		now, err = stored(p.pod(o.name))
	}
	switch {
	case apierrors.IsNotFound(err):
		now = nil
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", o.name, err)
	}
	return p.see(o, now)
}

// see stores the current version of an object, and returns its compared fields.
func (p *player) see(o *object, now metav1.Object) (any, error) {
	before := o.meta()
	if before != nil && (now == nil || now.GetUID() != before.UID) {
		o.uids = append(o.uids, before.UID)
	}
	if before != nil && (now == nil || now.GetResourceVersion() != before.ResourceVersion) {
		o.versions = append(o.versions, before.ResourceVersion)
	}
	o.job, _ = now.(*batchv1.Job)
	o.pod, _ = now.(*corev1.Pod)
	if now == nil {
		return "absent", nil
	}
	p.labels[string(now.GetUID())] = fmt.Sprintf("uid-%s-%d", o.label, len(o.uids))
	p.labels[now.GetName()] = o.label
	return p.compared(o, before)
}

// verbs maps verbs to functions that make the call. They return the object in the answer, if there is one.
var verbs = map[string]func(*player, *object, call) (metav1.Object, error){
	"create": func(p *player, o *object, c call) (metav1.Object, error) {
		created, err := p.create(o, c)
		if err == nil {
			o.name = created.GetName()
		}
		return created, err
	},
	"edit":      (*player).edit,
	"status":    (*player).status,
	"delete":    func(p *player, o *object, c call) (metav1.Object, error) { return nil, p.remove(o, c) },
	"evict":     func(p *player, o *object, _ call) (metav1.Object, error) { return nil, p.evictPod(o.name) },
	"bind":      func(p *player, o *object, _ call) (metav1.Object, error) { return nil, p.bindPod(o.name, "node") },
	"patch":     (*player).patch,
	"namespace": func(p *player, _ *object, _ call) (metav1.Object, error) { return nil, p.terminate() },
}

func (p *player) create(o *object, c call) (metav1.Object, error) {
	if strings.HasPrefix(o.label, "job") {
		return stored(p.createJob(p.newJob(o, c)))
	}
	return stored(p.createPod(p.newPod(o, c)))
}

func (p *player) edit(o *object, c call) (metav1.Object, error) {
	switch {
	case o.job != nil:
		return stored(p.updateJob(o.job, func(job *batchv1.Job) { p.editJob(job, c) }))
	case o.pod != nil:
		return stored(p.updatePod(o.pod, func(pod *corev1.Pod) { p.editPod(pod, c) }))
	}
	return nil, errAbsent
}

// status writes the status of a Job, or of a pod.
func (p *player) status(o *object, c call) (metav1.Object, error) {
	if o.pod != nil {
		return stored(p.updatePodStatus(o.pod, func(pod *corev1.Pod) {
			for _, a := range c.args {
				podStatusEdits[a.key](&pod.Status, a.value)
			}
		}))
	}
	if o.job == nil {
		return nil, errAbsent
	}
	job := o.job.DeepCopy()
	for _, a := range c.args {
		switch a.key {
		case "version":
			job.ResourceVersion = pick(a.value, job.ResourceVersion, o.versions)
		case "uid":
			job.UID = pick(a.value, job.UID, o.uids)
		default:
			statusEdits[a.key](&job.Status, a.value)
		}
	}
	return stored(p.updateStatus(job))
}

func (p *player) remove(o *object, c call) error {
	if strings.HasPrefix(o.label, "job") {
		return p.deleteJob(o.name, metav1.DeletionPropagation(c.args[0].value))
	}
	var options metav1.DeleteOptions
	conditions := &metav1.Preconditions{}
	version := ""
	if m := o.meta(); m != nil {
		version = m.ResourceVersion
	}
	for _, a := range c.args {
		switch a.key {
		case "grace":
			options.GracePeriodSeconds = number[int64](a.value)
		case "uid":
			conditions.UID = ptr.To(pick(a.value, o.uid(), o.uids))
		case "version":
			conditions.ResourceVersion = ptr.To(pick(a.value, version, o.versions))
		}
	}
	if *conditions != (metav1.Preconditions{}) {
		options.Preconditions = conditions
	}
	return p.deletePod(o.name, options)
}

var podPatches = map[string]cluster.PodPatch{
	"release": cluster.ReleasePod, "adopt": cluster.AdoptPod, "disown": cluster.DisownPod,
}

// patch makes one of our controller's patches.
func (p *player) patch(o *object, c call) (metav1.Object, error) {
	if o.pod == nil {
		return nil, errAbsent
	}
	job := p.object("job0")
	ref, patch := reconcile.PodRef{Name: o.name, UID: o.pod.UID}, cluster.ReleasePod
	for _, a := range c.args {
		switch a.key {
		case "uid":
			ref.UID = pick(a.value, ref.UID, o.uids)
		case "version":
			ref.ResourceVersion = pick(a.value, o.pod.ResourceVersion, o.versions)
		case "job":
			job = p.object(a.value)
		default:
			patch = podPatches[a.value]
		}
	}
	owner := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: job.name, UID: job.uid()}}
	return stored(p.patchPod(owner, ref, patch))
}
