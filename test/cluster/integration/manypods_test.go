package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// manyPods is a failed Job with one pod for each index. It is written to etcd directly, in the API server's format,
// since creating 100,000 pods and their statuses through the API takes minutes.
type manyPods struct {
	job  *batchv1.Job
	pods int32
	etcd *etcdWriter
}

// storeManyPods stores a Job that no controller reconciles, its pods, and an event about each of the first thousand. One
// in ten pods has failed, the others have succeeded.
func storeManyPods(t testing.TB, client kubernetes.Interface, namespace, name string, pods int32) *manyPods {
	t.Helper()
	job, err := client.BatchV1().Jobs(namespace).Create(t.Context(), &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": "ml"}},
		Spec: batchv1.JobSpec{
			Completions: &pods, Parallelism: &pods, CompletionMode: ptr.To(batchv1.IndexedCompletion),
			BackoffLimitPerIndex: ptr.To[int32](1), ManagedBy: ptr.To("example.com/nobody"),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "registry.example.com/team/train:v1.2.3"}},
			}},
		},
	}, metav1.CreateOptions{})
	assert.NoError(t, err)
	var failed []int32
	for index := range pods {
		if phaseOf(index) == corev1.PodFailed {
			failed = append(failed, index)
		}
	}
	job.Status = batchv1.JobStatus{
		StartTime: &job.CreationTimestamp, Failed: int32(len(failed)), Succeeded: pods - int32(len(failed)), FailedIndexes: ptr.To(indexset.Of(failed...).String()),
		CompletedIndexes: indexset.Below(pods).Difference(indexset.Of(failed...)).String(),
		Ready:            ptr.To[int32](0), Terminating: ptr.To[int32](0), UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{},
	}
	for _, condition := range []batchv1.JobConditionType{batchv1.JobFailureTarget, batchv1.JobFailed} {
		job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{
			Type: condition, Status: corev1.ConditionTrue, Reason: batchv1.JobReasonFailedIndexes, Message: "Job has failed indexes", LastTransitionTime: job.CreationTimestamp,
		})
	}
	m := &manyPods{job: job, pods: pods, etcd: &etcdWriter{t: t}}
	m.etcd.put("jobs", job)
	for index := range pods {
		m.etcd.put("pods", m.pod(index, phaseOf(index)))
		if index < 1000 {
			m.etcd.put("events", m.event(index))
		}
	}
	m.etcd.flush()
	return m
}

func phaseOf(index int32) corev1.PodPhase {
	if index%10 == 0 {
		return corev1.PodFailed
	}
	return corev1.PodSucceeded
}

func (m *manyPods) podName(index int32) string {
	return fmt.Sprintf("%s-%d-%05d", m.job.Name, index, index)
}

// pod returns a pod as in a real cluster: with labels, a mounted token, tolerations, conditions, and managed fields.
func (m *manyPods) pod(index int32, phase corev1.PodPhase) *corev1.Pod {
	job, at := m.job, m.job.CreationTimestamp
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: job.Namespace, Name: m.podName(index), GenerateName: fmt.Sprintf("%s-%d-", job.Name, index), CreationTimestamp: at,
			UID: types.UID(fmt.Sprintf("%.24s%012d", job.UID, index)),
			Labels: map[string]string{
				batchv1.JobNameLabel: job.Name, "job-name": job.Name, batchv1.ControllerUidLabel: string(job.UID), "controller-uid": string(job.UID),
				batchv1.JobCompletionIndexAnnotation: fmt.Sprint(index),
			},
			Annotations:     map[string]string{batchv1.JobCompletionIndexAnnotation: fmt.Sprint(index), batchv1.JobIndexFailureCountAnnotation: "0"},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))},
			ManagedFields:   managedFields(at),
		},
		Spec: *job.Spec.Template.Spec.DeepCopy(),
		Status: corev1.PodStatus{
			Phase: phase, StartTime: &at, PodIP: "10.0.0.1", HostIP: "192.168.0.1", QOSClass: corev1.PodQOSBestEffort,
		},
	}
	pod.Spec.NodeName = fmt.Sprintf("node-%d", index%500)
	pod.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "JOB_COMPLETION_INDEX", ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.labels['batch.kubernetes.io/job-completion-index']"},
	}}}
	pod.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "kube-api-access", ReadOnly: true, MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"}}
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{
			Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptr.To[int64](300),
		})
	}
	for _, condition := range []corev1.PodConditionType{corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled} {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: condition, Status: corev1.ConditionTrue, LastTransitionTime: at})
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "main", Image: pod.Spec.Containers[0].Image, ImageID: "registry.example.com/team/train@sha256:" + fmt.Sprintf("%064d", 1),
		ContainerID: "containerd://" + fmt.Sprintf("%064d", index), State: stateOf(index, phase, at),
	}}
	return pod
}

func stateOf(index int32, phase corev1.PodPhase, at metav1.Time) corev1.ContainerState {
	ended := &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: at, FinishedAt: at}
	if phase == corev1.PodFailed {
		ended.ExitCode, ended.Reason, ended.Message = 1+index/10%3, "Error", "cannot read shard"
	}
	return corev1.ContainerState{Terminated: ended}
}

// managedFields returns the entries of a Job controller and of a kubelet.
func managedFields(at metav1.Time) []metav1.ManagedFieldsEntry {
	spec := `{"f:metadata":{"f:annotations":{".":{},"f:batch.kubernetes.io/job-completion-index":{},"f:batch.kubernetes.io/job-index-failure-count":{}},"f:finalizers":{".":{},"v:\"batch.kubernetes.io/job-tracking\"":{}},"f:generateName":{},"f:labels":{".":{},"f:batch.kubernetes.io/controller-uid":{},"f:batch.kubernetes.io/job-name":{},"f:controller-uid":{},"f:job-name":{}},"f:ownerReferences":{".":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"main\"}":{".":{},"f:env":{},"f:image":{},"f:imagePullPolicy":{},"f:name":{},"f:resources":{}}},"f:dnsPolicy":{},"f:enableServiceLinks":{},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},"f:terminationGracePeriodSeconds":{}}}`
	status := `{"f:status":{"f:conditions":{"k:{\"type\":\"ContainersReady\"}":{".":{},"f:lastTransitionTime":{},"f:status":{}},"k:{\"type\":\"Initialized\"}":{".":{},"f:lastTransitionTime":{},"f:status":{}},"k:{\"type\":\"Ready\"}":{".":{},"f:lastTransitionTime":{},"f:status":{}}},"f:containerStatuses":{},"f:hostIP":{},"f:phase":{},"f:podIP":{},"f:startTime":{}}}`
	entry := func(manager, subresource, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Time: &at, FieldsType: "FieldsV1",
			FieldsV1: metav1.NewFieldsV1(fields), Subresource: subresource,
		}
	}
	return []metav1.ManagedFieldsEntry{entry("kubectl-batchjob", "", spec), entry("kubelet", "status", status)}
}

func (m *manyPods) event(index int32) *corev1.Event {
	at := m.job.CreationTimestamp
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: m.job.Namespace, Name: m.podName(index) + ".started", UID: types.UID(fmt.Sprintf("event-%d", index)), CreationTimestamp: at},
		Reason:     "Started", Message: "Started container main", Type: corev1.EventTypeNormal, Count: 1, FirstTimestamp: at, LastTimestamp: at,
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: m.job.Namespace, Name: m.podName(index), UID: m.pod(index, phaseOf(index)).UID},
		Source:         corev1.EventSource{Component: "kubelet"},
	}
}

// maxTransaction is the largest number of operations in an etcd transaction.
const maxTransaction = 128

// etcdWriter writes objects to etcd through its HTTP gateway, in the format of the API server.
type etcdWriter struct {
	t       testing.TB
	pending []map[string]any
}

type storedObject interface {
	runtime.Object
	metav1.Object
}

func (w *etcdWriter) put(resource string, object storedObject) {
	w.t.Helper()
	var value bytes.Buffer
	versions := schema.GroupVersions{corev1.SchemeGroupVersion, batchv1.SchemeGroupVersion}
	codec := scheme.Codecs.EncoderForVersion(protobuf.NewSerializer(scheme.Scheme, scheme.Scheme), versions)
	assert.NoError(w.t, codec.Encode(object, &value))
	key := "/registry/" + resource + "/" + object.GetNamespace() + "/" + object.GetName()
	w.pending = append(w.pending, map[string]any{"requestPut": map[string]any{"key": []byte(key), "value": value.Bytes()}})
	if len(w.pending) == maxTransaction {
		w.flush()
	}
}

func (w *etcdWriter) flush() {
	w.t.Helper()
	body, err := json.Marshal(map[string]any{"success": w.pending})
	assert.NoError(w.t, err)
	w.pending = nil
	response, err := http.Post(apiServer.Etcd+"/v3/kv/txn", "application/json", bytes.NewReader(body))
	assert.NoError(w.t, err)
	defer func() { _ = response.Body.Close() }()
	if text, err := io.ReadAll(response.Body); err != nil || response.StatusCode != http.StatusOK {
		w.t.Fatalf("etcd answered %s: %s, %v", response.Status, text, err)
	}
}
