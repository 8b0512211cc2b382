"""Text out of pictures: engines behind one protocol, and pages made ready for them."""
