package gather

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
)

// podReader reads lists of pods in pages. Of each pod it decodes the fields that fields has, or all if that is nil: a
// Job may have 100,000 pods, and what explanations and logs need of one is a quarter of it.
//
// An answer begins with the token of the next page, so that page is requested while the pods of this one are still encoded,
// compressed and sent. All pages are of the same snapshot, as they are if read one after the other.
type podReader struct {
	client    kube.Interface
	namespace string
	fields    kube.Fields
}

// maxPages is how many pages are read at a time. More need more memory and no less time: the API server finds the pods of a
// page, for which the next one has to wait, in about half of the page's time.
const maxPages = 3

// readAhead is more than most pods have.
const readAhead = 32 << 10

// podPage is one page.
type podPage struct {
	options metav1.ListOptions
	meta    metav1.ListMeta
	// begun is closed when meta has been read, or never will be.
	begun chan struct{}
	// encoded has the needed fields of pods, each after its length; or list has the pods if the answer is not in protobuf.
	encoded []byte
	list    corev1.PodList
	err     error
	// done is closed when encoded, list and err are set.
	done chan struct{}
}

// read calls each with all pods that options select, in the order of the API server. begin comes before the first page, and
// once more when the token of a page has expired: the list is read again then, without pages.
func (r *podReader) read(ctx context.Context, options metav1.ListOptions, begin func(), each func(*corev1.Pod)) (version string, err error) {
	options.Limit = pageSize
	last, err := r.readPages(ctx, options, begin, each)
	if apierrors.IsResourceExpired(err) && last.options.Continue != "" {
		options.Limit = 0
		last, err = r.readPages(ctx, options, begin, each)
	}
	if err != nil {
		return "", err
	}
	return last.meta.ResourceVersion, nil
}

// readPages returns the last page that it has read, or could not read. No request is left when it returns.
func (r *podReader) readPages(ctx context.Context, options metav1.ListOptions, begin func(), each func(*corev1.Pod)) (last *podPage, err error) {
	var requests sync.WaitGroup
	defer requests.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	begin()
	pages, buffers := make(chan *podPage, maxPages), make(chan []byte, maxPages)
	for range maxPages {
		buffers <- nil
	}
	requests.Go(func() { r.request(ctx, options, pages, buffers, &requests) })
	for last = range pages {
		<-last.done
		if last.err == nil {
			last.err = last.eachPod(each)
		}
		if last.err != nil {
			return last, last.err
		}
		buffers <- last.encoded[:0]
	}
	return last, ctx.Err()
}

// request sends the pages in their order, each when it is requested, for which there must be a buffer.
func (r *podReader) request(ctx context.Context, options metav1.ListOptions, pages chan<- *podPage, buffers <-chan []byte, requests *sync.WaitGroup) {
	defer close(pages)
	for {
		page := &podPage{options: options, begun: make(chan struct{}), done: make(chan struct{})}
		select {
		case page.encoded = <-buffers:
		case <-ctx.Done():
			return
		}
		requests.Go(func() { r.readPage(ctx, page) })
		pages <- page
		<-page.begun
		if page.meta.Continue == "" {
			return
		}
		options.Continue = page.meta.Continue
	}
}

// readPage requests a page and reads its pods.
func (r *podReader) readPage(ctx context.Context, page *podPage) {
	begun := sync.OnceFunc(func() { close(page.begun) })
	defer close(page.done)
	defer begun()
	stream, err := r.client.CoreV1().RESTClient().Get().Namespace(r.namespace).Resource("pods").
		VersionedParams(&page.options, kube.ParameterCodec).Stream(ctx)
	if err != nil {
		page.err = err
		return
	}
	defer func() { _ = stream.Close() }() // It was read to its end, or failed.
	answer := bufio.NewReaderSize(stream, readAhead)
	if kube.IsProtobuf(answer) {
		err = page.readProtobuf(answer, r.fields, begun)
	} else {
		var text []byte
		if text, err = io.ReadAll(answer); err == nil {
			err = runtime.DecodeInto(kube.Codecs.UniversalDeserializer(), text, &page.list)
		}
		page.meta = page.list.ListMeta
	}
	if err != nil {
		page.err = fmt.Errorf("reading a list of pods: %w", err)
	}
}

// readProtobuf keeps the needed fields of each pod as it arrives, and calls begun when it has read the token of the next page.
func (p *podPage) readProtobuf(answer *bufio.Reader, fields kube.Fields, begun func()) error {
	var buffer []byte
	return kube.EachFieldOfAnswer(answer, func(number protowire.Number, value []byte) (err error) {
		switch number {
		case 1:
			err = p.meta.Unmarshal(value)
			begun()
		case 2:
			if fields != nil {
				buffer, err = fields.AppendTo(buffer[:0], value)
				value = buffer
			}
			p.encoded = protowire.AppendBytes(p.encoded, value)
		}
		return err
	})
}

// eachPod calls each with the pods.
func (p *podPage) eachPod(each func(*corev1.Pod)) error {
	for i := range p.list.Items {
		each(&p.list.Items[i])
	}
	var pod corev1.Pod
	for rest := p.encoded; len(rest) > 0; {
		data, size := protowire.ConsumeBytes(rest)
		if size < 0 {
			return protowire.ParseError(size)
		}
		pod = corev1.Pod{}
		if err := pod.Unmarshal(data); err != nil {
			return fmt.Errorf("reading a list of pods: %w", err)
		}
		each(&pod)
		rest = rest[size:]
	}
	return nil
}

// neededOfPods are the fields that explain.PodOf and logs.NewPod read.
var neededOfPods = sync.OnceValue(func() kube.Fields {
	paths := []string{
		"metadata.name", "metadata.namespace", "metadata.uid", "metadata.resourceVersion", "metadata.creationTimestamp",
		"metadata.deletionTimestamp", "metadata.deletionGracePeriodSeconds", "metadata.annotations", "metadata.ownerReferences",
		"metadata.finalizers", "spec.restartPolicy", "spec.nodeName", "spec.schedulingGates", "spec.resources",
		"status.phase", "status.conditions", "status.message", "status.reason", "status.startTime",
	}
	for _, kind := range []string{"containers", "initContainers"} {
		paths = append(paths, "spec."+kind+".name", "spec."+kind+".restartPolicy", "spec."+kind+".image", "spec."+kind+".resources")
	}
	for _, kind := range []string{"containerStatuses", "initContainerStatuses"} {
		for _, field := range []string{"name", "state", "lastState", "ready", "restartCount", "started", "image", "resources"} {
			paths = append(paths, "status."+kind+"."+field)
		}
	}
	return kube.FieldsOf[corev1.Pod](paths...)
})
