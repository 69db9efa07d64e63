// Package pods runs the pods of the conformance suite: they start, and end when a case asks for it. Simulated needs no
// containers and works on any cluster: the program acts as the kubelet of a node that it adds. Image uses real nodes and
// a real image.
package pods
