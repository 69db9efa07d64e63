// Package pods runs the pods of the conformance suite, which start, and end when a case asks
// for it. Simulated does so without containers, on any cluster: the program is the kubelet of a
// node that it adds. Image uses real nodes and a real image.
package pods
