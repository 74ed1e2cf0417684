"""Coded and dense embeddings and output layers (sections 3.2 and 3.3), for any PyTorch model."""

from fewwords.layers.code_table import CodeTable
from fewwords.layers.embedding import CodedEmbedding, DenseEmbedding
from fewwords.layers.output import CodedOutput, DenseOutput, OutputLayer

__all__ = ["CodeTable", "CodedEmbedding", "CodedOutput", "DenseEmbedding", "DenseOutput", "OutputLayer"]
